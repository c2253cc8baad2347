// Evaluate: make questions from the documents, ask them of several paradigms, and see which is worth its cost.
import { html, useLoaded } from "../parts/html.js";
import { api, path } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { may } from "../parts/home.js";
import { useJob } from "../parts/jobs.js";
import { link } from "../parts/router.js";
import { Trouble, Waiting } from "../parts/ui.js";
import { when } from "../parts/words.js";
import { Questions } from "./questions.js";
import { Run } from "./run.js";
import { Start } from "./start.js";

export default function Evaluate({ collection, rest: [chosen = ""] }) {
  const sets = useLoaded((signal) => api.get(path`/collections/${collection}/questions`, signal), [collection]);
  const runs = useLoaded((signal) => api.get(path`/collections/${collection}/runs`, signal), [collection]);
  const making = useJob(collection, ["questions"], () => sets.again()), asking = useJob(collection, ["evaluate"], () => runs.again());
  const known = runs.value?.runs ?? [];
  const current = known.find((one) => one.id === chosen) ?? (chosen ? null : known[0]);
  return html`<div class="evaluate">
    <h1>Evaluate ${shown(collection)}</h1>
    <p class="soft lead">Questions with known answers tell which way of answering suits these documents, and what it costs.</p>
    <div class="begin">
      <${Questions} collection=${collection} sets=${sets} job=${making} />
      <${Start} collection=${collection} sets=${sets.value?.sets ?? []} job=${asking} />
    </div>
    <section aria-labelledby="runs-title">
      <h2 id="runs-title">Runs</h2>
      <${Trouble} problem=${runs.problem} again=${runs.again} />
      ${!runs.value && !runs.problem && html`<${Waiting} />`}
      ${runs.value && !known.length && html`<p class="soft">No run has ended yet.${may("write") ? " Make questions, choose some paradigms and start one." : ""}</p>`}
      ${known.length > 0 && html`<ul class="plain runs">${known.map((one) => html`<li key=${one.id}><a href=${link("evaluate", collection, [one.id])} aria-current=${one.id === current?.id ? "true" : undefined}>
        <strong>${shown(one.questions)}</strong> <span class="soft small">${count(one.asked, "question")} · ${count(one.paradigms.length, "paradigm")} · ${when(one.made)}</span></a></li>`)}</ul>`}
      ${chosen && runs.value && !current && html`<p class="soft">There is no such run; it may have been deleted.</p>`}
      ${current && html`<${Run} key=${current.id} collection=${collection} run=${current} gone=${runs.again} />`}
    </section>
  </div>`;
}
