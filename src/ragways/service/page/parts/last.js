// The last answer of each collection in this tab: the graph draws the walk that led to it.
const results = new Map();

export function remember(collection, result) {
  results.set(collection, result);
}

export const lastResult = (collection) => results.get(collection) ?? null;
