// A question and what came of it: the steps while they happen, the answer, its sources, the way, the cost, and what the reader thinks of it.
import { html, useEffect, useMemo, useRef, useState } from "../parts/html.js";
import { AnswerText, Sources, Written } from "../parts/answer.js";
import { api, path } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { collectionOf } from "../parts/home.js";
import { remember } from "../parts/last.js";
import { Route } from "../parts/route.js";
import { link } from "../parts/router.js";
import { flattened, Steps } from "../parts/steps.js";
import { say, Trouble } from "../parts/ui.js";
import { cost } from "../parts/words.js";

export function Turn({ collection, turn, again }) {
  const { question, rewritten, result, running, stopped, problem } = turn;
  const top = useRef(null);
  // While another answer is written, this one is not drawn again for each piece of it.
  const answered = useMemo(() => result && html`<${Answered} collection=${collection} result=${result} />`, [collection, result]);
  // A new question is brought into sight once; what follows does not move the page under the reader.
  useEffect(() => { if (running) top.current.scrollIntoView({ block: "start" }); }, []);
  return html`<article class="turn" ref=${top} aria-busy=${running ? "true" : undefined}>
    <h2 class="question">${shown(question)}</h2>
    ${rewritten && rewritten.question !== question && html`<p class="rewritten soft">Understood as: <em>${shown(rewritten.question)}</em></p>`}
    ${turn.where && html`<p class="soft small">Only documents where <code>${shown(turn.where)}</code></p>`}
    ${running && html`<${Steps} steps=${turn.steps.length ? turn.steps : [{ name: "begins", depth: 0, running: true }]} />`}
    ${result ? answered : turn.blocks.length > 0 && html`<${Written} collection=${collection} blocks=${turn.blocks} />`}
    ${turn.kept && again && html`<p class="soft small">Asked before; what it rested on is not kept. <button type="button" class="quiet" onClick=${again}>Ask again</button></p>`}
    ${stopped && html`<p class="soft">Stopped. Calls that were under way have been called off.</p>`}
    <${Trouble} problem=${problem} />
  </article>`;
}

function Answered({ collection, result }) {
  const steps = flattened(result.steps ?? []);
  return html`<div class="answered card">
    <${AnswerText} collection=${collection} result=${result} />
    <${Sources} collection=${collection} result=${result} />
    <div class="how">
      <${Route} route=${result.route} />
      ${steps.length > 0 && html`<details><summary>${count(steps.length, "step")} of <strong>${shown(result.paradigm)}</strong></summary><${Steps} steps=${steps} /></details>`}
      ${collectionOf(collection)?.layers?.includes("graph") && html`<p class="walk"><a href=${link("graph", collection, [], { walk: "last" })} onClick=${() => remember(collection, result)}>The walk to it on the graph</a></p>`}
    </div>
    <footer class="row apart">
      <p class="soft small cost">${cost(result.cost ?? result.usage, result.seconds)}${result.way && ` · by ${shown(result.way)}`}</p>
      <${Feedback} collection=${collection} result=${result} />
    </footer>
  </div>`;
}

// A verdict is kept as a question that an evaluation can ask again; with what would have been right where the reader knows it.
function Feedback({ collection, result }) {
  const [verdict, judge] = useState(""), [correction, correct] = useState(""), [sent, send] = useState(""), [problem, fail] = useState(null);
  const keep = async (chosen, right) => {
    const body = { question: result.question, answer: result.answer, verdict: chosen, paradigm: result.paradigm, evidence: result.evidence.slice(0, 200).map((one) => one.id) };
    try {
      await api.post(path`/collections/${collection}/feedback`, right ? { ...body, correction: right } : body);
      send(chosen);
      fail(null);
      say("Thank you, kept.");
    } catch (error) {
      fail(error);
    }
  };
  if (sent) return html`<p class="soft small" role="status">Kept as ${sent}. Thank you.</p>`;
  const submit = (event) => { event.preventDefault(); keep("bad", correction.trim()); };
  return html`<div class="feedback">
    <div class="row" role="group" aria-label="Was this answer good?">
      <button type="button" class="quiet" onClick=${() => keep("good")}>Good</button>
      <button type="button" class="quiet" aria-expanded=${verdict === "bad"} onClick=${() => judge(verdict ? "" : "bad")}>Bad</button>
    </div>
    ${verdict === "bad" && html`<form class="row" onSubmit=${submit}>
      <label>What would have been right? <input type="text" value=${correction} maxlength="2000" onInput=${(event) => correct(event.target.value)} /></label>
      <button type="submit">Send</button>
    </form>`}
    <${Trouble} problem=${problem} />
  </div>`;
}
