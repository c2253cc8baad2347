// What all views know: who asks, which collections and paradigms there are.
import { store, useStore } from "./html.js";
import { api } from "./api.js";

export const home = store({ me: null, collections: null, paradigms: null, problem: null });
export const useHome = () => useStore(home);

export async function refresh() {
  try {
    const { collections } = await api.get("/collections");
    const [me, paradigms] = home.get().me ? [home.get().me, home.get().paradigms] : await Promise.all([api.get("/me"), api.get("/paradigms")]);
    home.set({ me, collections, paradigms: Array.isArray(paradigms) ? paradigms : paradigms.paradigms, problem: null });
  } catch (problem) {
    home.set((old) => ({ ...old, problem }));
  }
}

export const may = (scope) => home.get().me?.scopes?.includes(scope) ?? false;
export const collectionOf = (name) => home.get().collections?.find((one) => one.name === name) ?? null;

// Whether a collection has what a paradigm needs; else what is missing.
export const missing = (paradigm, collection) => (paradigm.needs ?? []).filter((layer) => collection?.layers && !collection.layers.includes(layer));
