// A document in a panel, opened at a sentence of it, which is marked.
import { html, store, useEffect, useLoaded, useRef, useStore } from "./html.js";
import { api, path } from "./api.js";
import { shown } from "./figures.js";
import { Dialog, Trouble, Waiting } from "./ui.js";

// What is open: { collection, document, start, end, title }. start and end count letters as Python does.
const opened = store(null);
export const openDocument = (what) => opened.set(what);

// Where letters begin in a string of JavaScript, in which some letters take two places: one pass for all of them.
export function positions(text, letters) {
  if (!/[\ud800-\udbff]/.test(text)) return new Map(letters.map((letter) => [letter, letter]));
  const found = new Map();
  let at = 0, n = 0;
  for (const letter of [...letters].sort((a, b) => a - b)) {
    for (; n < letter && at < text.length; n += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
    found.set(letter, at);
  }
  return found;
}

// A document cut at its headings, its code, its tables, its items and at what is marked: [{ text, kind }], kind being "", "heading", "code", "table", "item" or
// "mark". A heading ends where its section begins. What a mark touches is no block of its own.
export function pieces(view, start, end) {
  const found = [], sections = view.sections ?? [], markup = view.markup ?? [], marks = Number.isInteger(start) && end > start;
  const at = positions(view.text, [...sections.map((one) => one.start), ...markup.flatMap((one) => [one.start, one.end]), ...(marks ? [start, end] : [])]);
  for (const { kind, start: from, end: to, value } of markup) found.push({ from: at.get(from), to: at.get(to), kind, value });
  for (const { title, start: begins } of sections) {
    const to = at.get(begins), from = to - title.length;
    if (title && from >= 0 && view.text.slice(from, to) === title) found.push({ from, to, kind: "heading" });
  }
  if (marks) {
    const from = at.get(start), to = at.get(end);
    const apart = found.filter((one) => one.kind === "item" || one.to <= from || one.from >= to);
    found.splice(0, found.length, ...apart, { from, to, kind: "mark" });
  }
  found.sort((a, b) => a.from - b.from);
  const all = [];
  let done = 0;
  for (const { from, to, kind, value } of found) {
    if (from < done) continue;
    all.push({ text: view.text.slice(done, from), kind: "" }, { text: kind === "item" ? `${value} ` : view.text.slice(from, to), kind });
    done = to;
  }
  return [...all, { text: view.text.slice(done), kind: "" }];
}

function Text({ view, start, end }) {
  const marked = useRef(null);
  useEffect(() => {
    marked.current?.scrollIntoView({ block: "center" });
    marked.current?.focus({ preventScroll: true });
  }, [view, start]);
  return html`<div class="reading document">${pieces(view, start, end).map(({ text, kind }, at) => kind === "mark" ? html`<mark key=${at} ref=${marked} tabindex="-1">${shown(text)}</mark>`
    : kind === "heading" ? html`<h3 key=${at}>${shown(text)}</h3>`
    : kind === "code" ? html`<pre key=${at}><code>${shown(text)}</code></pre>`
    : kind === "table" ? html`<${Table} key=${at} text=${text} />` : shown(text))}</div>`;
}

// A table from its lines: a row a line, cells between bars.
function Table({ text }) {
  return html`<div class="wide"><table><tbody>${text.split("\n").map((row, at) => html`<tr key=${at}>${row.split("|").map((cell, n) => html`<td key=${n}>${shown(cell.trim())}</td>`)}</tr>`)}</tbody></table></div>`;
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
