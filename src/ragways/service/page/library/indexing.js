// Indexing: what it would do and cost, then doing it, and what came of it.
import { html, useState } from "../parts/html.js";
import { count, shown } from "../parts/figures.js";
import { useHome } from "../parts/home.js";
import { JobState, under, useJob } from "../parts/jobs.js";
import { Field, Trouble } from "../parts/ui.js";
import { dollars, seconds } from "../parts/words.js";

const ORDER = ["vectors", "words", "windows", "graph", "communities"];
const MEANS = { vectors: "search by meaning", words: "search by words", windows: "walks from sentence to sentence", graph: "who and what, and how they are related", communities: "groups of the graph, with reports" };

export function Indexing({ one, ended }) {
  const { paradigms } = useHome();
  const all = [...new Set([...ORDER, ...paradigms.flatMap((each) => each.needs)])];
  const usual = new Set(one.wanted?.length ? one.wanted : one.layers.length ? one.layers : ["vectors", "words"]);
  const [chosen, choose] = useState(null), [budget, limit] = useState("");  // null: nobody chose, and the server does
  const layers = chosen ?? usual;
  const plan = useJob(one.name, ["plan"]), index = useJob(one.name, ["index"], ended);
  const busy = under(plan.job) || under(index.job);
  const toggle = (name) => choose((old) => {
    const next = new Set(old ?? usual);
    if (!next.delete(name)) next.add(name);
    return next;
  });
  const body = (kind) => ({ kind, ...(chosen ? { layers: all.filter((name) => chosen.has(name)) } : {}), ...(kind === "index" && budget !== "" ? { budget: Number(budget) } : {}) });
  const fresh = plan.job && (!index.job || plan.job.created > index.job.created);
  return html`<section aria-labelledby="index-title" class="indexing">
    <h2 id="index-title">Index</h2>
    <div class="card">
      <fieldset><legend class="soft small">Layers</legend>
        ${all.map((name) => html`<label key=${name} class="layer"><input type="checkbox" checked=${layers.has(name)} disabled=${busy} onChange=${() => toggle(name)} /> <span>${shown(name)} <span class="soft small">${MEANS[name] ?? ""}</span></span></label>`)}
        ${!chosen && !one.wanted?.length && !one.layers.length && html`<p class="soft small">A graph comes as well where many short documents name each other, unless you choose.</p>`}
      </fieldset>
      <${Field} label="Most to spend, in US dollars" type="number" min="0" max="1000" step="any" value=${budget} change=${limit} help="It stops there; what is done is kept, and it can go on. Empty: what your key allows." />
      <div class="row end">
        <button type="button" disabled=${busy || !layers.size} onClick=${() => plan.start(body("plan"))}>Plan and price</button>
        <button type="button" class="main" disabled=${busy || !layers.size} onClick=${() => index.start(body("index"))}>Index now</button>
      </div>
      <${Trouble} problem=${plan.problem ?? index.problem} />
    </div>
    ${fresh && html`<${JobState} title="Plan" ...${plan} />`}
    ${fresh && plan.job.state === "done" && html`<${Plan} plan=${plan.job.result} />`}
    <${JobState} title="Indexing" ...${index} />
    ${index.job?.result && !under(index.job) && html`<${Done} result=${index.job.result} />`}
  </section>`;
}

// The price of all layers; null where one of them is not known.

function Plan({ plan }) {
  const usd = plan.usd;
  return html`<div class="card plan">
    <p class="reading">${plan.new + plan.changed > 0 ? `${count(plan.new, "new document")}${plan.changed ? `, ${plan.changed} changed` : ""}: ${usd === 0 ? "costs nothing" : usd === null ? "its price is not known" : `about ${dollars(usd)}`}, about ${seconds(plan.seconds)}.` : "Nothing is new: indexing changes nothing that is paid for."}</p>
    <div class="frame" tabindex="0" role="region" aria-label="Plan by layer"><table>
      <thead><tr><th scope="col">Layer</th><th scope="col" class="number">Rows</th><th scope="col" class="number">To embed</th><th scope="col" class="number">Model calls</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Price</th><th scope="col" class="number">Time</th></tr></thead>
      <tbody>${plan.layers.map((one) => html`<tr key=${one.name}><th scope="row">${shown(one.name)}${one.estimated && html`<p class="soft small">estimated: ${shown(one.estimated)}</p>`}</th>
        <td class="number">${one.rows.toLocaleString("en")}</td><td class="number">${one.to_embed.toLocaleString("en")}</td><td class="number">${one.calls.toLocaleString("en")}</td><td class="number">${(one.input + one.output).toLocaleString("en")}</td><td class="number">${dollars(one.usd)}</td><td class="number">${seconds(one.seconds)}</td></tr>`)}</tbody>
    </table></div>
    <${Failures} result=${plan} />
  </div>`;
}

function Done({ result }) {
  const said = [["added", result.added], ["changed", result.changed], ["removed", result.removed], ["unchanged", result.unchanged]].filter(([, n]) => n > 0).map(([word, n]) => `${n.toLocaleString("en")} ${word}`);
  return html`<div class="card">
    <p>${said.join(", ") || "Nothing to do"}. ${result.spent > 0 ? `It cost ${dollars(result.spent)}.` : result.spent === null && "What it cost is not known."}</p>
    ${result.chosen && html`<p class="small">${shown(result.chosen)}</p>`}
    ${result.unread && html`<p class="small">${shown(result.unread)}</p>`}
    ${result.undone > 0 && html`<p class="small">${count(result.undone, "unit")} of work could not be done: ${shown(result.why)}. Index again to try them once more.</p>`}
    <${Failures} result=${result} />
    <${Erasure} erasure=${result.erasure} />
  </div>`;
}

function Failures({ result }) {
  const failed = [...(result.failed ?? []), ...(result.skipped ?? [])];
  const total = (result.failed_count ?? result.failed?.length ?? 0) + (result.skipped_count ?? result.skipped?.length ?? 0);
  return total > 0 && html`<details class="failures" open=${total <= 20}><summary>${count(total, "file")} could not be read</summary>
    <ul>${failed.slice(0, 200).map((one) => html`<li key=${one.path}><strong class="path">${shown(one.path)}</strong>: ${shown(one.reason)}</li>`)}</ul>
    ${total > 200 && html`<p class="soft small">And ${total - 200} more.</p>`}
  </details>`;
}

function verdict(erasure, left) {
  if (erasure.erased) return html`<span class="tag good">erased</span> ${count(erasure.documents.length, "document")} gone without a trace`;
  if (left > 0) return html`<span class="tag bad">not erased</span> ${count(left, "document")} can still be read in a file`;
  if (erasure.erased === false) return html`<span class="tag bad">not erased</span> not all could be searched`;
  return html`<span class="tag">not known</span> ${count(erasure.documents.filter((one) => one.erased === null).length, "document")} had nothing that could be looked for`;
}

// What was removed was looked for in every file of the collection.
function Erasure({ erasure }) {
  if (!erasure) return null;
  const left = erasure.documents.filter((one) => one.found.length);
  return html`<details class="erasure" open=${left.length > 0}>
    <summary>${verdict(erasure, left.length)}</summary>
    <p class="soft small">Strings of what was removed were looked for in ${count(erasure.files, "file")} (${erasure.bytes.toLocaleString("en")} bytes) of this collection.${erasure.not_looked_at > 0 ? ` ${erasure.not_looked_at} more were not looked for.` : ""}${erasure.words_left > 0 ? ` ${count(erasure.words_left, "word")} of them alone can still be looked up in the index.` : ""}${erasure.in_use ? " A database was in use, so that what was deleted from it may be left in its file." : ""}</p>
    <ul>${erasure.documents.slice(0, 200).map((one) => html`<li key=${one.key}><strong class="path">${shown(one.key)}</strong>: ${one.note ? shown(one.note) : one.found.length ? `found in ${shown(one.found.join(", "))}` : `${count(one.looked_for, "string")} looked for, none found`}</li>`)}</ul>
  </details>`;
}
