// What every part of the page is made with. Text goes out as text nodes: nothing here or elsewhere makes HTML of a string.
import { createContext, h, render } from "preact";
import { useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import htm from "htm";

export const html = htm.bind(h);
export {
  createContext, render, useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useRef, useState,
};

// A value that several parts read: those that use it are drawn again when it is set.
export function store(value) {
  const readers = new Set();
  return {
    get: () => value,
    set(next) {
      value = typeof next === "function" ? next(value) : next;
      for (const reader of [...readers]) reader(value);
    },
    subscribe(reader) {
      readers.add(reader);
      return () => readers.delete(reader);
    },
  };
}

export function useStore(one) {
  const [value, set] = useState(one.get());
  useLayoutEffect(() => {
    set(() => one.get());
    return one.subscribe((next) => set(() => next));
  }, [one]);
  return value;
}

// What `load` promises, fetched again when one of `inputs` changes and when `again` is called. `value` stays while it is fetched anew.
export function useLoaded(load, inputs) {
  const [state, set] = useState({ value: null, problem: null, busy: true });
  const [round, again] = useState(0);
  const last = useRef(null);
  useEffect(() => {
    const abort = new AbortController();
    const same = last.current !== null && inputs.every((input, at) => input === last.current[at]);
    last.current = inputs;
    set((old) => ({ value: same ? old.value : null, problem: null, busy: true }));
    Promise.resolve().then(() => load(abort.signal)).then(
      (value) => abort.signal.aborted || set({ value, problem: null, busy: false }),
      (problem) => abort.signal.aborted || set((old) => ({ value: old.value, problem, busy: false })),
    );
    return () => abort.abort();
  }, [...inputs, round]);
  return { ...state, again: useCallback(() => again((n) => n + 1), []) };
}
