// A document in a panel, opened at a sentence of it, which is marked.
import { html, store, useEffect, useLoaded, useRef, useStore } from "./html.js";
import { api, path } from "./api.js";
import { shown } from "./figures.js";
import { Dialog, Trouble, Waiting } from "./ui.js";

// What is open: { collection, document, start, end, title }. start and end count letters as Python does.
const opened = store(null);
export const openDocument = (what) => opened.set(what);

// Where the nth letter begins in a string of JavaScript, in which some letters take two places.
export function position(text, letters) {
  let at = 0;
  for (let n = 0; n < letters && at < text.length; n += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

// A document cut at its headings and at what is marked: [{ text, kind }], kind being "", "heading" or "mark". A heading ends where its section begins.
export function pieces(view, start, end) {
  const found = [];
  for (const { title, start: begins } of view.sections ?? []) {
    const to = position(view.text, begins), from = to - title.length;
    if (title && from >= 0 && view.text.slice(from, to) === title) found.push({ from, to, kind: "heading" });
  }
  if (Number.isInteger(start) && end > start) {
    const from = position(view.text, start), to = from + position(view.text.slice(from), end - start);
    const apart = found.filter((one) => one.to <= from || one.from >= to);
    found.splice(0, found.length, ...apart, { from, to, kind: "mark" });
  }
  found.sort((a, b) => a.from - b.from);
  const all = [];
  let at = 0;
  for (const { from, to, kind } of found) {
    if (from < at) continue;
    all.push({ text: view.text.slice(at, from), kind: "" }, { text: view.text.slice(from, to), kind });
    at = to;
  }
  return [...all, { text: view.text.slice(at), kind: "" }];
}

function Text({ view, start, end }) {
  const marked = useRef(null);
  useEffect(() => {
    marked.current?.scrollIntoView({ block: "center" });
    marked.current?.focus({ preventScroll: true });
  }, [view, start]);
  return html`<div class="reading document">${pieces(view, start, end).map(({ text, kind }, at) => kind === "mark" ? html`<mark key=${at} ref=${marked} tabindex="-1">${shown(text)}</mark>`
    : kind === "heading" ? html`<h3 key=${at}>${shown(text)}</h3>` : shown(text))}</div>`;
}

function Panel({ what }) {
  const { value, problem, again } = useLoaded((signal) => api.get(path`/collections/${what.collection}/documents/${what.document}`, signal), [what.collection, what.document]);
  const close = () => opened.set(null);
  const facts = Object.entries(value?.metadata ?? {}).filter(([, text]) => String(text).length < 200);
  return html`<${Dialog} kind="panel" title=${value?.title || what.title || "Document"} close=${close}>
    ${value && html`<p class="soft small">${shown(value.key)}</p>
      ${facts.length > 0 && html`<p class="facts">${facts.map(([name, text]) => html`<span class="tag" key=${name}>${shown(name)}: ${shown(text)}</span> `)}</p>`}
      <${Text} view=${value} start=${what.start} end=${what.end} />`}
    ${problem ? html`<${Trouble} problem=${problem} again=${again} />` : !value && html`<${Waiting} />`}
  <//>`;
}

// Stands once in the shell.
export function DocumentPanel() {
  const what = useStore(opened);
  return what && html`<${Panel} what=${what} key=${`${what.document}:${what.start}`} />`;
}
