// What is in the index: documents, found by title or key, opened in the panel.
import { html, useEffect, useLoaded, useRef, useState } from "../parts/html.js";
import { api, path, query } from "../parts/api.js";
import { openDocument } from "../parts/document.js";
import { shown } from "../parts/figures.js";
import { Field, Trouble } from "../parts/ui.js";
import { Pages } from "./files.js";

const PAGE = 50, PAUSE = 250;

// `stands`: what is above it is drawn whole. Until then nothing is drawn here that would move away from under the pointer.
export function Documents({ collection, changes, stands }) {
  const [typed, type] = useState(""), [search, find] = useState(""), [offset, turn] = useState(0);
  useEffect(() => {
    const later = setTimeout(() => { find(typed.trim()); turn(0); }, PAUSE);
    return () => clearTimeout(later);
  }, [typed]);
  const { value, problem, again } = useLoaded(
    (signal) => api.get(path`/collections/${collection}/documents` + query({ offset, limit: PAGE, search }), signal), [collection, offset, search, changes],
  );
  const last = useRef(null);
  if (value) last.current = value;
  const page = value ?? last.current;
  if (!stands) return null;
  return html`<section aria-labelledby="documents-title">
    <h2 id="documents-title">In the index</h2>
    ${(page?.total > 0 || search) && html`<${Field} label="Find a document" type="search" value=${typed} change=${type} maxlength="200" />`}
    <${Trouble} problem=${problem} again=${again} />
    ${page && !page.total && html`<p class="soft">${search ? "No document has these words in its title or path." : "Nothing yet. What you index appears here."}</p>`}
    ${page?.total > 0 && html`<ul class="documents plain">${page.documents.map((one) => html`<li key=${one.id}>
      <button type="button" class="source" onClick=${() => openDocument({ collection, document: one.id, title: one.title })}>
        <span class="title">${shown(one.title || one.key)}</span><span class="quote">${shown([one.key, one.date ?? one.metadata?.date, one.metadata?.language].filter(Boolean).join(" · "))}</span>
      </button>
    </li>`)}</ul><${Pages} offset=${offset} total=${page.total} turn=${turn} noun="document" />`}
  </section>`;
}
