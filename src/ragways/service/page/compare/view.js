// Compare: one question by several paradigms side by side, and their evidence in one table.
import { html, useEffect, useRef, useState } from "../parts/html.js";
import { AnswerText } from "../parts/answer.js";
import { events, path } from "../parts/api.js";
import { count, known, shown, whole } from "../parts/figures.js";
import { Filter } from "../parts/filter.js";
import { missing, useHome } from "../parts/home.js";
import { stepped, Steps } from "../parts/steps.js";
import { say, Trouble } from "../parts/ui.js";
import { dollars, seconds } from "../parts/words.js";
import { Evidence } from "./evidence.js";

const FIRST = ["naive", "words", "fused"];
const tokens = (answer) => (answer.usage?.input ?? 0) + (answer.usage?.output ?? 0);

// What an event changes: each way has its steps while it works, then its answer.
function told(state, { event, data }) {
  const ways = state.ways.map((way) => {
    if (way.name !== data.paradigm || way.answer) return way;
    if (event === "step") return { ...way, steps: stepped(way.steps, data) };
    return event === "answer" ? { ...way, answer: data } : way;
  });
  if (event !== "result") return { ...state, ways };
  return { ...state, ways: state.ways.map((way, at) => ({ ...way, answer: data.answers[at] })), evidence: data.evidence };
}

export default function Compare({ collection }) {
  const { collections, paradigms } = useHome(), one = collections.find((each) => each.name === collection);
  const able = paradigms.filter((each) => !missing(each, one).length).sort((a, b) => (b.name === "auto") - (a.name === "auto")), unable = paradigms.filter((each) => missing(each, one).length);
  const [question, write] = useState(""), [chosen, choose] = useState(() => new Set(FIRST.filter((name) => able.some((each) => each.name === name))));
  const [where, restrict] = useState(""), [filtering, filter] = useState(false), [state, set] = useState(null), [busy, work] = useState(false), [problem, fail] = useState(null);
  const running = useRef(null);
  useEffect(() => () => running.current?.abort(), []);
  const compare = async (event) => {
    event.preventDefault();
    if (busy || !question.trim() || !chosen.size) return;
    const names = able.map((each) => each.name).filter((name) => chosen.has(name)), abort = new AbortController();
    running.current = abort;
    work(true);
    fail(null);
    set({ question: question.trim(), ways: names.map((name) => ({ name, steps: [], answer: null })), evidence: null });
    try {
      const body = { question: question.trim(), paradigms: names, where: where.trim() || null, stream: true, rendered: true };
      for await (const got of events("POST", path`/collections/${collection}/compare`, { body, signal: abort.signal })) {
        set((old) => told(old, got));
        if (got.event === "answer") say(`${got.data.paradigm} is done.`);
      }
    } catch (error) {
      if (error.name !== "AbortError") fail(error);
      else say("Stopped.");
    } finally {
      work(false);
    }
  };
  const toggle = (name) => choose((old) => {
    const next = new Set(old);
    if (!next.delete(name)) next.add(name);
    return next;
  });
  return html`<h1>Compare ways of answering</h1>
    <p class="soft lead">One question, asked in several ways: what each says, what it read that the others did not, and what it took.</p>
    <div class="card asked">
      ${filtering && html`<${Filter} collection=${collection} where=${where} change=${restrict} />`}
      <form onSubmit=${compare}>
        <label class="unseen" for="question">Question</label>
        <input id="question" type="text" value=${question} maxlength="8000" placeholder="Ask a question …" onInput=${(event) => write(event.target.value)} />
        <fieldset><legend class="soft small">Ways</legend>
          ${able.map((each) => html`<label key=${each.name} class="way" title=${shown(each.summary)}><input type="checkbox" checked=${chosen.has(each.name)} onChange=${() => toggle(each.name)} /> ${shown(each.name)}</label>`)}
        </fieldset>
        ${unable.length > 0 && html`<details class="small"><summary>Not here (${unable.length})</summary><ul>${unable.map((each) => html`<li key=${each.name}>${shown(each.name)} needs ${missing(each, one).join(", ")}</li>`)}</ul></details>`}
        <div class="row apart">
          <button type="button" class="quiet" aria-expanded=${filtering} onClick=${() => filter(!filtering)}>Filter${where.trim() && " (set)"}</button>
          ${busy ? html`<button type="button" onClick=${() => running.current.abort()}>Stop</button>` : html`<button type="submit" class="main" disabled=${!question.trim() || !chosen.size}>Compare</button>`}
        </div>
      </form>
    </div>
    <${Trouble} problem=${problem} />
    ${state && html`<section aria-label="Answers">
      <h2 class="question">${shown(state.question)}</h2>
      <div class="ways">${state.ways.map((way) => html`<${Way} key=${way.name} collection=${collection} way=${way} busy=${busy} ways=${state.ways} evidence=${state.evidence} />`)}</div>
    </section>`}
    ${state?.evidence && html`<${Evidence} collection=${collection} names=${state.ways.filter((way) => way.answer?.evidence).map((way) => way.name)} rows=${state.evidence} />`}`;
}

// An answer of several ways that failed has no evidence, but its reason.
function Way({ collection, way, busy, ways, evidence }) {
  const { answer } = way;
  const done = ways.map((each) => each.answer).filter((each) => each?.evidence);
  const least = (value) => done.length > 1 && done.every((each) => known(value(each))) && value(answer) === Math.min(...done.map(value)) && value(answer) < Math.max(...done.map(value));
  const alone = evidence?.filter((row) => Object.keys(row.by).length === 1 && row.by[way.name]).length;
  return html`<article class="card way-card" aria-label=${way.name} aria-busy=${!answer && busy ? "true" : undefined}>
    <h3>${shown(way.name)}</h3>
    ${!answer && (busy ? html`<${Steps} steps=${way.steps.length ? way.steps : [{ name: "waits", depth: 0, running: true }]} />` : html`<p class="soft">Stopped.</p>`)}
    ${answer?.failed && html`<${Trouble} problem=${{ message: answer.error, cure: answer.cure }} />`}
    ${answer?.evidence && html`
      <${AnswerText} collection=${collection} result=${answer} under=${3} />
      ${answer.route && html`<p class="small soft">Took ${shown(answer.route.arm)}: ${shown(answer.route.reason)}</p>`}
      <dl>
        <div class=${least(tokens) ? "least" : ""}><dt>tokens</dt><dd>${whole(tokens(answer))}</dd></div>
        <div class=${least((each) => each.seconds) ? "least" : ""}><dt>time</dt><dd>${seconds(answer.seconds)}</dd></div>
        <div class=${least((each) => each.usage.usd) ? "least" : ""}><dt>money</dt><dd>${dollars(answer.usage.usd)}</dd></div>
        <div><dt>read</dt><dd>${count(answer.evidence.length, "passage")}</dd></div>
        ${evidence && html`<div><dt>found alone</dt><dd>${alone}</dd></div>`}
      </dl>`}
  </article>`;
}
