// The one client of the server: JSON, event streams, uploads. The key lives in sessionStorage alone and goes into a header, never into an address.
import { store } from "./html.js";

const BASE = "/api/v1";
const KEY = "ragways-key";

// What a view shows: a sentence, what helps, and the id under which the server's log has it.
export class Problem extends Error {
  constructor(status, { message, cure = "", code = "", id = "" }) {
    super(message);
    Object.assign(this, { status, cure, code, id });
  }
}

// Set while the server wants a key: the shell then asks for one, and whoever waits goes on.
export const wanted = store(null);

export const key = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set(value) {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  },
};

function keyEntered() {
  const asked = wanted.get();
  if (asked) return asked.entered;
  let answer;
  const entered = new Promise((resolve) => { answer = resolve; });
  const was = key.get();
  wanted.set({ entered, refused: was !== "", answer(value) { key.set(value); wanted.set(null); answer(); } });
  return entered;
}

// A path with its parts escaped: path`/collections/${name}/jobs`. An array becomes the parts of a path.
export function path(strings, ...values) {
  const part = (value) => Array.isArray(value) ? value.map((one) => encodeURIComponent(one)).join("/") : encodeURIComponent(value);
  return strings.reduce((whole, text, at) => whole + text + (at < values.length ? part(values[at]) : ""), "");
}

// What of `values` is set, as the end of an address.
export function query(values) {
  const set = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return set.length ? `?${new URLSearchParams(set)}` : "";
}

function headers(body) {
  const set = { Accept: "application/json, text/event-stream" };
  if (key.get()) set.Authorization = `Bearer ${key.get()}`;
  if (body !== undefined) set["Content-Type"] = "application/json";
  return set;
}

function unreachable() {
  return new Problem(0, { message: "The server does not answer", cure: "See whether ragways serve still runs, then try again." });
}

async function refusal(response) {
  const said = await response.json().then((body) => body?.error, () => null);
  return new Problem(response.status, said?.message ? said : { message: `The server answered ${response.status}`, id: response.headers.get("X-Request-ID") ?? "" });
}

async function respond(method, where, { body, signal } = {}) {
  for (;;) {
    const used = key.get();
    let response;
    try {
      response = await fetch(BASE + where, { method, signal, headers: headers(body), body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", credentials: "omit" });
    } catch (error) {
      throw error.name === "AbortError" ? error : unreachable();
    }
    if (response.ok) return response;
    if (response.status !== 401) throw await refusal(response);
    // Another call may have been given a key meanwhile.
    if (key.get() === used) await keyEntered();
    if (signal?.aborted) throw new DOMException("stopped", "AbortError");
  }
}

async function json(method, where, options) {
  const response = await respond(method, where, options);
  return response.status === 204 ? null : response.json();
}

export const api = {
  get: (where, signal) => json("GET", where, { signal }),
  post: (where, body = {}, signal) => json("POST", where, { body, signal }),
  remove: (where) => json("DELETE", where),
  text: async (where, signal) => (await respond("GET", where, { signal })).text(),
};

// Events of a stream as they come: { event, data }. Leaving the loop, or the signal, closes the connection, and the server stops the work.
export async function* events(method, where, { body, signal } = {}) {
  const response = await respond(method, where, { body, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read().catch((error) => { throw error.name === "AbortError" ? error : unreachable(); });
      if (done) return;
      rest = (rest + value).replaceAll("\r\n", "\n");
      for (let at = rest.indexOf("\n\n"); at >= 0; at = rest.indexOf("\n\n")) {
        const found = parsed(rest.slice(0, at));
        rest = rest.slice(at + 2);
        if (found?.event === "error") throw new Problem(200, found.data.error ?? found.data);
        if (found) yield found;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// One block of lines; null for a comment, which only keeps the line open.
export function parsed(block) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
  }
  return data.length ? { event, data: JSON.parse(data.join("\n")) } : null;
}

// A file as it is, with how much of it has gone out: fetch cannot tell that, XMLHttpRequest can.
export function upload(where, file, { signal, progress }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", BASE + where);
    if (key.get()) request.setRequestHeader("Authorization", `Bearer ${key.get()}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => progress(event.loaded, event.total);
    request.onerror = () => reject(unreachable());
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    request.onload = () => {
      let body = null;
      try { body = JSON.parse(request.responseText); } catch { /* said below */ }
      if (request.status < 300) resolve(body);
      else reject(new Problem(request.status, body?.error ?? { message: `The server answered ${request.status}` }));
    };
    signal?.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}
