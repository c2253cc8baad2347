// A run: the figures of each paradigm, quality against cost, and its report.
import { html, useLoaded, useState } from "../parts/html.js";
import { api, key, path } from "../parts/api.js";
import { amount, count, figure, fixed, known, shown, whole } from "../parts/figures.js";
import { Grid, Whisker } from "../parts/grid.js";
import { may } from "../parts/home.js";
import { Named } from "../parts/marks.js";
import { front, QualityCost } from "../parts/plot.js";
import { Choice, Confirm, Trouble, Waiting } from "../parts/ui.js";

const COSTS = {
  seconds: ["median seconds of an answer", (one) => one.resources.seconds_p50],
  tokens: ["tokens of an answer", (one) => one.resources.total.tokens],
  usd: ["USD of an answer", (one) => one.resources.total.usd],
  evidence: ["tokens of evidence", (one) => one.resources.evidence],
};
const ROUTER = "auto";

export function Run({ collection, run, gone }) {
  const { value, problem, again } = useLoaded((signal) => api.get(path`/collections/${collection}/runs/${run.id}`, signal), [run.id]);
  const [metric, measure] = useState(""), [cost, weigh] = useState(""), [doomed, doom] = useState(false);
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  if (!value) return html`<${Waiting} />`;
  const rows = value.paradigms.map((one, at) => ({ ...one, at })), metrics = value.metrics;
  const costs = Object.entries(COSTS).filter(([, [, of]]) => rows.some((one) => of(one) > 0));
  const measured = metrics.filter((name) => rows.some((one) => known(one.metrics[name]?.mean)));
  const quality = measured.includes(metric) ? metric : measured[0] ?? metrics[0], kind = costs.find(([name]) => name === cost) ?? costs[0];
  const remove = async () => {
    await api.remove(path`/collections/${collection}/runs/${run.id}`);
    doom(false);
    gone();
  };
  return html`<article class="run" aria-label=${`Run on ${shown(value.questions)}`}>
    <div class="row apart">
      <h3>${shown(value.questions)}: ${count(value.asked, "question")}</h3>
      <div class="row"><${Report} collection=${collection} run=${run} />
        ${may("write") && html`<button type="button" class="quiet" onClick=${() => doom(true)}>Delete</button>`}</div>
    </div>
    <${Grid} caption="Means with 95 % intervals; what was not scored is in no mean" rows=${rows} sort=${1 + metrics.indexOf(quality)} columns=${columns(metrics)} />
    <h3>Quality against cost</h3>
    <div class="row">
      <${Choice} label="Quality" value=${quality} options=${metrics} change=${measure} />
      ${kind && html`<${Choice} label="Cost" value=${kind[0]} options=${costs.map(([name, [said]]) => [name, said])} change=${weigh} />`}
    </div>
    ${kind ? html`<${Worth} rows=${rows} metric=${quality} cost=${kind[1]} />` : html`<p class="soft">Nothing is known of what the answers cost.</p>`}
    ${doomed && html`<${Confirm} title="Delete this run?" word=${run.id} verb="Delete" close=${() => doom(false)} act=${remove}><p>Its answers, figures and report go.</p><//>`}
  </article>`;
}

function columns(metrics) {
  const scored = (metric) => (row) => {
    const found = row.metrics[metric];
    if (!known(found?.mean)) return html`<span class="soft">${found?.unscored ? "unscored" : "–"}</span>`;
    return html`<div class="scored"><${Whisker} found=${found} low=${0} high=${1} /><span class="value">${figure(found.mean)}</span></div>
      <small>${known(found.low) ? `${fixed(found.low, 2)}–${fixed(found.high, 2)}` : "no interval"} · n ${found.n}${found.unscored ? ` · ${found.unscored} unscored` : ""}</small>`;
  };
  return [
    { label: "paradigm", head: true, value: (row) => row.paradigm, cell: (row) => html`<${Named} at=${row.at} name=${row.paradigm} />` },
    ...metrics.map((metric) => ({ label: metric, value: (row) => row.metrics[metric]?.mean ?? null, cell: scored(metric) })),
    { label: "failed", title: "no answer came; not in any mean", value: (row) => row.failed, show: whole },
    { label: "seconds", title: "half of the answers took no longer", value: (row) => row.resources.seconds_p50, show: amount, down: false },
    { label: "tokens", title: "per answer", value: (row) => row.resources.total.tokens, show: whole, down: false },
    { label: "USD", title: "per answer", value: (row) => row.resources.total.usd, show: amount, down: false },
  ];
}

// The router is the paradigm that chooses among the others: its point has a ring.
function Worth({ rows, metric, cost: [label, of] }) {
  const found = rows.map((row) => ({ name: row.paradigm, at: row.at, ...row.metrics[metric], quality: row.metrics[metric]?.mean, cost: of(row) })).filter((one) => known(one.quality) && known(one.cost));
  if (!found.length) return html`<p class="soft">No paradigm has both figures.</p>`;
  const { points, best } = front(found), router = points.find((one) => one.name === ROUTER) ?? null;
  return html`<${QualityCost} points=${points.map((one) => ({ ...one, strong: !one.by.length, hollow: one.by.length > 0 }))} line=${best} steps ring=${router} quality=${metric} cost=${label} label=${`Plot of ${metric} against ${label}; the table above has the same figures`} />
    <p>None is both better and cheaper than ${best.map((one, at) => html`${at ? ", " : ""}<strong>${shown(one.name)}</strong> (${figure(one.quality)} at ${amount(one.cost)})`)}.</p>
    <p class="soft small">The dashed line joins these. It is of means alone: the report says which differences were shown.${router ? " The ring is the router, which chooses a way for each question." : " Ask auto as well, and the router is drawn among them."}</p>`;
}

// A tab of its own cannot send a key, so where one is needed the report is saved and opened from there.
function Report({ collection, run }) {
  const where = path`/collections/${collection}/runs/${run.id}/report.html`, [problem, fail] = useState(null);
  if (!key.get()) return html`<a class="button" href=${`/api/v1${where}`} target="_blank" rel="noopener">Read the report</a>`;
  const save = async () => {
    try {
      const file = document.createElement("a"), url = URL.createObjectURL(new Blob([await api.text(where)], { type: "text/html" }));
      file.href = url;
      file.download = `${collection}-${run.id}.html`;
      file.click();
      setTimeout(() => URL.revokeObjectURL(url), 10000);
    } catch (error) {
      fail(error);
    }
  };
  return html`<button type="button" onClick=${save}>Save the report</button><${Trouble} problem=${problem} />`;
}
