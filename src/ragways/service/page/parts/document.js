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

// Paragraphs as { text, marked }: the marked span is a part of its own, whatever the paragraphs are.
export function parts(text, start, end) {
  const from = position(text, start), to = from + position(text.slice(from), end - start);
  return [text.slice(0, from), text.slice(from, to), text.slice(to)];
}

function Text({ view, start, end }) {
  const marked = useRef(null);
  const has = Number.isInteger(start) && end > start;
  const [before, inside, after] = has ? parts(view.text, start, end) : [view.text, "", ""];
  useEffect(() => {
    marked.current?.scrollIntoView({ block: "center" });
    marked.current?.focus({ preventScroll: true });
  }, [view, start]);
  return html`<div class="reading document">${shown(before)}${inside && html`<mark ref=${marked} tabindex="-1">${shown(inside)}</mark>`}${shown(after)}</div>`;
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
