// Starting a run: which questions, which paradigms, how many, and what it may cost.
import { html, useState } from "../parts/html.js";
import { shown } from "../parts/figures.js";
import { may, missing, useHome } from "../parts/home.js";
import { JobState, under } from "../parts/jobs.js";
import { Choice, Field, Trouble } from "../parts/ui.js";

const FIRST = ["auto", "naive", "words", "hybrid", "fused"];

export function Start({ collection, sets, job }) {
  const { collections, paradigms, me } = useHome();
  const one = collections.find((each) => each.name === collection), able = paradigms.filter((each) => !missing(each, one).length).map((each) => each.name);
  const [set, choose] = useState(""), [limit, most] = useState(""), [budget, spend] = useState(""), [ways, take] = useState(() => new Set(FIRST.filter((name) => able.includes(name))));
  const questions = sets.some((each) => each.name === set) ? set : sets[0]?.name ?? "";
  const toggle = (name) => take((old) => {
    const next = new Set(old);
    if (!next.delete(name)) next.add(name);
    return next;
  });
  const start = (event) => {
    event.preventDefault();
    job.start({ kind: "evaluate", questions, paradigms: able.filter((name) => ways.has(name)), ...(limit ? { limit: Number(limit) } : {}), ...(budget !== "" ? { budget: Number(budget) } : {}) });
  };
  return html`<section class="card" aria-labelledby="start-title">
    <h2 id="start-title">Ask them</h2>
    ${!may("write") && html`<p class="soft">Your key may read, not start runs.</p>`}
    ${may("write") && !questions && html`<p class="soft">Make questions first.</p>`}
    ${may("write") && questions && html`<form onSubmit=${start}>
      <${Choice} label="Questions" value=${questions} options=${sets.map((each) => [each.name, `${each.name} (${each.questions})`])} change=${choose} />
      <fieldset class="ways"><legend class="soft small">Paradigms</legend>
        ${able.map((name) => html`<label key=${name} class="tick"><input type="checkbox" checked=${ways.has(name)} onChange=${() => toggle(name)} /> ${shown(name)}</label>`)}
      </fieldset>
      <${Field} label="Only the first" type="number" min="1" value=${limit} change=${most} help="questions; empty: all of them" />
      ${me?.model && html`<${Field} label="Most to spend, in US dollars" type="number" min="0" max="1000" step="any" value=${budget} change=${spend} help="It stops there, and can go on. Empty: what your key allows." />`}
      <div class="row end"><button type="submit" class="main" disabled=${under(job.job) || !ways.size}>Start the run</button></div>
    </form>`}
    <${Trouble} problem=${job.problem} />
    <${JobState} title="Run" ...${job} />
  </section>`;
}
