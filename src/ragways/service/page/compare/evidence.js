// The evidence of all ways in one table: a row for each passage, a column for each way with the place it gave it.
import { html, useState } from "../parts/html.js";
import { openDocument } from "../parts/document.js";
import { count, shown } from "../parts/figures.js";
import { Choice } from "../parts/ui.js";

const SHORT = 220, FIRST = 30;

export function Evidence({ collection, names, rows }) {
  const [kind, choose] = useState("all"), [all, more] = useState(false);
  if (!names.length) return null;
  const finders = (row) => names.filter((name) => row.by[name]);
  const kinds = {
    all: () => true,
    alone: (row) => finders(row).length === 1,
    every: (row) => finders(row).length === names.length,
  };
  const test = kinds[kind] ?? ((row) => finders(row).length === 1 && row.by[kind]);
  const found = rows.filter(test), seen = all ? found : found.slice(0, FIRST);
  const options = [["all", "all passages"], ["every", "found by every way"], ["alone", "found by one way alone"], ...names.map((name) => [name, `found by ${name} alone`])];
  return html`<section aria-label="Evidence">
    <div class="row apart heading">
      <h2>Evidence</h2>
      ${names.length > 1 && html`<${Choice} label="Show" value=${kind} options=${options} change=${(next) => { choose(next); more(false); }} />`}
    </div>
    <p class="soft small" role="status">${count(found.length, "passage")}. The number is the place that a way gave it; <span class="tag mark">only here</span> marks what no other way found.</p>
    <div class="frame" tabindex="0" role="region" aria-label="Table of evidence"><table class="evidence">
      <thead><tr><th scope="col">Passage</th>${names.map((name) => html`<th scope="col" class="number" key=${name}>${shown(name)}</th>`)}</tr></thead>
      <tbody>${seen.map((row) => html`<tr key=${row.id} class=${finders(row).length === 1 && names.length > 1 ? "alone" : ""}>
        <td><button type="button" class="source" onClick=${() => openDocument({ collection, document: row.document, start: row.start, end: row.end, title: row.title })}>
          <span class="title">${shown(row.title || row.document)}</span><span class="quote">${shown(row.text.length > SHORT ? `${row.text.slice(0, SHORT - 1)}…` : row.text)}</span>
        </button></td>
        ${names.map((name) => html`<td class=${`number ${row.by[name] ? "" : "none"}`} data-way=${shown(name)} key=${name}>${row.by[name] ?? html`<span class="soft" aria-label="not found">·</span>`}${finders(row).length === 1 && names.length > 1 && row.by[name] && html` <span class="tag mark">only here</span>`}</td>`)}
      </tr>`)}</tbody>
    </table></div>
    ${seen.length < found.length && html`<p><button type="button" onClick=${() => more(true)}>Show all ${found.length}</button></p>`}
  </section>`;
}
