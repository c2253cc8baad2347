// An answer as people read it: its text with numbers that open the sentence it rests on, what it withheld and why, and its sources.
import { html } from "./html.js";
import { shown } from "./figures.js";
import { openDocument } from "./document.js";
import { Markdown } from "./markdown.js";
import { share } from "./words.js";

// The place that number n stands for: the cited or nearest sentence of that passage, else the whole passage.
export function place(result, n) {
  const passage = result.evidence[n - 1];
  if (!passage) return null;
  const cited = result.citations.find((one) => one.piece === passage.id);
  const { document, start, end } = cited ?? passage;
  return { document, start, end, title: passage.title, quote: cited?.quote ?? passage.nearest ?? passage.text, source: (cited ?? passage).source?.text ?? "", cited: Boolean(cited ?? passage.nearest) };
}

function Cite({ collection, result, n }) {
  const found = result && place(result, n);
  if (!found) return html`<span class="cite">${n}</span>`;
  return html`<button type="button" class="cite" aria-label=${`Source ${n}: ${shown(found.title)}`} title=${shown(found.quote.slice(0, 300))}
    onClick=${() => openDocument({ collection, ...found })}>${n}</button>`;
}

// Blocks of an answer, with its numbers as buttons that open what they stand for.
export function Written({ collection, result, blocks, under }) {
  return html`<${Markdown} blocks=${blocks} under=${under} cite=${(n) => html`<${Cite} collection=${collection} result=${result} n=${n} />`} />`;
}

export function AnswerText({ collection, result, under }) {
  if (result.abstained) {
    return html`<div class="abstained">
      <p class="reading said">${result.evidence.length ? "The documents do not tell, as far as this way could see." : "No answer: nothing was found to rest one on."}</p>
      <${Because} collection=${collection} result=${result} under=${under} />
      <${Surety} result=${result} />
    </div>`;
  }
  // Sentences that a rule put together say less than the passages they are from, which stand below.
  if (result.way === "rule: read" && !result.explanation && result.evidence.some((one) => one.nearest)) {
    return html`<p class="soft small">From your documents, without a model</p>`;
  }
  return html`<${Written} collection=${collection} result=${result} blocks=${result.blocks} under=${under} />
    <${Because} collection=${collection} result=${result} under=${under} />
    <${Surety} result=${result} />`;
}

function Because({ collection, result, under }) {
  return result.explanation && html`<div class="because soft"><${Written} collection=${collection} result=${result} blocks=${result.explanation_blocks} under=${under} /></div>`;
}

// How sure it is, what is to be known of how it was made, and what went wrong on the way.
function Surety({ result }) {
  const said = [];
  if (result.chance !== null && result.chance !== undefined) {
    said.push(result.abstained ? `The best answer found had a chance of ${share(result.chance)} of being right.` : `Chance of being right: ${share(result.chance)}.`);
  }
  if (result.note) said.push(result.note);
  if (result.error) said.push(`The model gave no answer (${result.error}); this one is by a rule.`);
  return said.length > 0 && html`<p class="soft small">${shown(said.join(" "))}</p>`;
}

export function Sources({ collection, result }) {
  const numbers = result.evidence.map((_, at) => at + 1), cited = numbers.filter((n) => place(result, n).cited), others = numbers.filter((n) => !place(result, n).cited);
  const row = (n) => {
    const found = place(result, n), blocks = result.evidence[n - 1].nearest_blocks;
    const open = () => openDocument({ collection, ...found });
    // Without a model the passage itself is shown, as it was written, under where it is from.
    if (blocks) return html`<li key=${n} value=${n}><button type="button" class="source" onClick=${open}><span class="title">${shown(found.title || found.document)}</span>
        <span class="quote">${shown(found.source)}</span></button>
      <div class="passage"><${Markdown} blocks=${blocks} /></div></li>`;
    return html`<li key=${n} value=${n}>
      <button type="button" class="source" onClick=${open}>
        <span class="title">${shown(found.title || found.document)}</span>
        <span class="quote">${shown(found.quote.length > 260 ? `${found.quote.slice(0, 259)}…` : found.quote)}</span>
      </button>
    </li>`;
  };
  return html`
    ${cited.length > 0 && result.abstained && html`<p class="soft small" aria-hidden="true">Nearest passages</p>`}
    ${cited.length > 0 && html`<ol class="sources" aria-label=${result.abstained ? "Nearest passages" : "Sources"}>${cited.map(row)}</ol>`}
    ${others.length > 0 && html`<details class="others"><summary>${cited.length ? "What else was read" : "What was read"} (${others.length})</summary><ol class="sources">${others.map(row)}</ol></details>`}`;
}
