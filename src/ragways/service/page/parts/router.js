// Where one is stands in the address behind #: #/view/collection/more?name=value. So every view can be linked to, and Back works.
import { store } from "./html.js";

function here() {
  const [way, values = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const parts = way.split("/").filter(Boolean).map((part) => {
    try { return decodeURIComponent(part); } catch { return part; }
  });
  return { view: parts[0] ?? "", collection: parts[1] ?? "", rest: parts.slice(2), query: Object.fromEntries(new URLSearchParams(values)) };
}

export const route = store(here());
addEventListener("hashchange", () => route.set(here()));

// The address of a view: link("graph", "docs", ["entity", id], { hops: 2 }).
export function link(view, collection = "", rest = [], query = {}) {
  const parts = [view, collection, ...rest].filter((part) => part !== "").map((part) => encodeURIComponent(part));
  const values = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined));
  return `#/${parts.join("/")}${values.size ? `?${values}` : ""}`;
}

export function go(...where) {
  location.hash = link(...where);
}

// The same, without a step in the history: what is typed into a filter is no place to come back to.
export function replace(...where) {
  history.replaceState(null, "", link(...where));
  route.set(here());
}
