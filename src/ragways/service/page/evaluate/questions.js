// Sets of questions: those there are, and making one.
import { html, useState } from "../parts/html.js";
import { api, path } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { may, useHome } from "../parts/home.js";
import { JobState, under } from "../parts/jobs.js";
import { Confirm, Field, Trouble, Waiting } from "../parts/ui.js";
import { when } from "../parts/words.js";

const NAME = "[a-z0-9][a-z0-9_\\-]{0,63}";

export function Questions({ collection, sets, job }) {
  const { me } = useHome();
  const [name, call] = useState("first"), [each, most] = useState("5"), [plain, without] = useState(false), [doomed, doom] = useState("");
  const make = (event) => {
    event.preventDefault();
    job.start({ kind: "questions", name: name.trim(), count: Number(each), without_model: plain });
  };
  const remove = async () => {
    await api.remove(path`/collections/${collection}/questions/${doomed}`);
    doom("");
    sets.again();
  };
  return html`<section class="card" aria-labelledby="sets-title">
    <h2 id="sets-title">Questions</h2>
    <${Trouble} problem=${sets.problem} again=${sets.again} />
    ${!sets.value && !sets.problem && html`<${Waiting} />`}
    ${sets.value && !sets.value.sets.length && html`<p class="soft">There are none yet. They are made from the documents, each with its answer and the passages that hold it.</p>`}
    ${sets.value?.sets.length > 0 && html`<ul class="plain sets">${sets.value.sets.map((one) => html`<li key=${one.name} class="row apart">
      <span><strong>${shown(one.name)}</strong> <span class="soft small">${count(one.questions, "question")}${one.name === "feedback" ? ", from what people said of answers" : ""} · ${when(one.made)}</span></span>
      ${may("write") && html`<button type="button" class="quiet" aria-label=${`Delete ${one.name}`} onClick=${() => doom(one.name)}>Delete</button>`}</li>`)}</ul>`}
    ${may("write") && html`<form class="make" onSubmit=${make}>
      <${Field} label="Name" value=${name} change=${call} pattern=${NAME} required maxlength="64" autocomplete="off" help="small letters, digits, - and _" />
      <${Field} label="Of each kind" type="number" min="1" max="1000" value=${each} change=${most} required help="up to so many questions of each kind that the index allows" />
      ${me?.model && html`<label class="tick"><input type="checkbox" checked=${plain} onChange=${(event) => without(event.target.checked)} /> without the language model, by templates</label>`}
      <div class="row end"><button type="submit" disabled=${under(job.job)}>Make questions</button></div>
    </form>`}
    <${Trouble} problem=${job.problem} />
    <${JobState} title="Making questions" ...${job} />
    ${job.job?.state === "done" && html`<p class="small soft">${count(job.job.result?.questions ?? 0, "question")} in ${shown(job.job.result?.name ?? "")}.</p>`}
    ${doomed && html`<${Confirm} title=${`Delete the questions ${shown(doomed)}?`} word=${doomed} verb="Delete" close=${() => doom("")} act=${remove}><p>Runs that asked them stay.</p><//>`}
  </section>`;
}
