// A document in a panel, opened at a sentence of it, which is marked.
import { html, store, useEffect, useLoaded, useRef, useStore } from "./html.js";
import { api, path } from "./api.js";
import { shown } from "./figures.js";
import { Dialog, Trouble, Waiting } from "./ui.js";

// What is open: { collection, document, start, end, title }. start and end count letters as Python does.
const opened = store(null);
export const openDocument = (what) => opened.set(what);

// Where letters begin in a string of JavaScript, in which some letters take two places: one pass for all of them.
function positions(text, letters) {
  if (!/[\ud800-\udbff]/.test(text)) return new Map(letters.map((letter) => [letter, letter]));
  const found = new Map();
  let at = 0, n = 0;
  for (const letter of [...letters].sort((a, b) => a - b)) {
    for (; n < letter && at < text.length; n += 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
    found.set(letter, at);
  }
  return found;
}

// A document cut at its headings, its code, its tables and its items: [{ from, to, kind, value }], kind being "", "heading", "code", "table" or "item".
// A heading ends where its section begins.
function pieces(view, at) {
  const found = (view.markup ?? []).map(({ kind, start, end, value }) => ({ from: at.get(start), to: at.get(end), kind, value }));
  for (const { title, start } of view.sections ?? []) {
    const to = at.get(start), from = to - title.length;
    if (title && from >= 0 && view.text.slice(from, to) === title) found.push({ from, to, kind: "heading" });
  }
  found.sort((a, b) => a.from - b.from);
  const all = [];
  let done = 0;
  for (const one of found) {
    if (one.from < done) continue;
    all.push({ from: done, to: one.from, kind: "" }, one);
    done = one.to;
  }
  return [...all, { from: done, to: view.text.length, kind: "" }];
}

function Text({ view, start, end }) {
  const box = useRef(null);
  useEffect(() => {
    const marked = box.current.querySelector("mark");
    marked?.scrollIntoView({ block: "center" });
    marked?.focus({ preventScroll: true });
  }, [view, start]);
  const { text, sections = [], markup = [] } = view, marks = Number.isInteger(start) && end > start ? [start, end] : [];
  const at = positions(text, [...sections.map((one) => one.start), ...markup.flatMap((one) => [one.start, one.end]), ...marks]);
  // A stretch of the text, with what is marked of it.
  const said = (from, to) => {
    const [first, last] = marks.map((letter) => Math.min(Math.max(at.get(letter), from), to));
    return first < last ? [shown(text.slice(from, first)), html`<mark tabindex="-1">${shown(text.slice(first, last))}</mark>`, shown(text.slice(last, to))] : shown(text.slice(from, to));
  };
  const parts = {
    heading: ({ from, to }) => html`<h3>${said(from, to)}</h3>`,
    code: ({ from, to }) => html`<pre tabindex="0" role="group" aria-label="Code"><code>${said(from, to)}</code></pre>`,
    table: ({ from, to }) => html`<div class="wide" tabindex="0" role="group" aria-label="Table"><table><tbody>${cut(text, from, to, "\n").map((row, n) => html`<tr>${cut(text, ...row, "|").map((cell) => html`<${n || !text.slice(...cell).trim() ? "td" : "th"}>${said(...cell)}<//>`)}</tr>`)}</tbody></table></div>`,
    item: ({ value }) => `${value} `,
  };
  return html`<div class="reading document" ref=${box}>${pieces(view, at).map((one) => parts[one.kind]?.(one) ?? said(one.from, one.to))}</div>`;
}

// Where the parts of a stretch begin and end between signs: a table has a row a line, the names of its columns in the first, and cells between bars.
function cut(text, from, to, sign) {
  let end = from - 1;
  return text.slice(from, to).split(sign).map((part) => [end + 1, end += part.length + 1]);
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
