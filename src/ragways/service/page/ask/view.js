// Ask: a conversation with one collection.
import { html, useEffect, useRef, useState } from "../parts/html.js";
import { api, events, path, query } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { Filter } from "../parts/filter.js";
import { missing, useHome } from "../parts/home.js";
import { remember } from "../parts/last.js";
import { words } from "../parts/markdown.js";
import { go } from "../parts/router.js";
import { stepped } from "../parts/steps.js";
import { Choice, say, Trouble, Waiting } from "../parts/ui.js";
import { Conversations } from "./conversations.js";
import { Turn } from "./turn.js";

let made = 0;
const next = () => { made += 1; return made; };

// What an event changes in a turn.
function told(turn, { event, data }) {
  if (event === "rewritten") return { ...turn, rewritten: data };
  if (event === "step") return { ...turn, steps: stepped(turn.steps, data) };
  if (event === "text") return { ...turn, blocks: data.blocks ? [...turn.blocks.slice(0, data.blocks[0]), ...data.blocks[1]] : turn.blocks };
  if (event === "result") return { ...turn, result: data, rewritten: data.rewritten ?? turn.rewritten, running: false };
  return turn;
}

export default function Ask({ collection, rest: [conversation = ""] }) {
  const [turns, setTurns] = useState([]), [problem, fail] = useState(null), [loading, load] = useState(false), [changes, changed] = useState(0);
  // The conversation whose turns are here: one that was just begun need not be fetched.
  const here = useRef(""), running = useRef(null);
  // By number: when what was under way ends, another conversation may be shown.
  const change = (number, act) => setTurns((old) => old.map((turn) => turn.number === number ? act(turn) : turn));

  useEffect(() => {
    if (conversation === here.current) return undefined;
    const abort = new AbortController();
    running.current?.abort();
    here.current = conversation;
    setTurns([]);
    fail(null);
    if (!conversation) return undefined;
    load(true);
    api.get(path`/collections/${collection}/conversations/${conversation}` + query({ rendered: true }), abort.signal)
      .then((found) => setTurns(found.turns.map(kept)), (error) => error.name === "AbortError" || fail(error))
      .finally(() => load(false));
    return () => abort.abort();
  }, [conversation]);
  useEffect(() => () => running.current?.abort(), []);

  const ask = async (question, { paradigm, where }) => {
    const abort = new AbortController(), number = next();
    running.current = abort;
    fail(null);
    setTurns((old) => [...old, { number, question, paradigm, where, steps: [], blocks: [], running: true }]);
    try {
      if (!here.current) {
        here.current = (await api.post(path`/collections/${collection}/conversations`, {}, abort.signal)).id;
        go("ask", collection, [here.current]);
      }
      const body = { question, paradigm, where: where || null, stream: true, rendered: true, conversation: here.current };
      for await (const event of events("POST", path`/collections/${collection}/ask`, { body, signal: abort.signal })) {
        change(number, (turn) => told(turn, event));
        if (event.event === "result") remember(collection, event.data);
        if (event.event === "result") say(event.data.abstained ? "The documents do not tell." : `Answer: ${words(event.data.blocks)}`);
      }
      change(number, (turn) => turn.running ? { ...turn, running: false, problem: { message: "The answer broke off", cure: "Ask once more." } } : turn);
    } catch (error) {
      const stopped = error.name === "AbortError";
      change(number, (turn) => ({ ...turn, running: false, stopped, problem: stopped ? null : error }));
      if (stopped) say("Stopped.");
    } finally {
      if (running.current === abort) running.current = null;
      changed((n) => n + 1);
    }
  };

  const busy = turns.some((turn) => turn.running);
  return html`<div class="ask">
    <${Conversations} collection=${collection} current=${conversation} changes=${changes} />
    <section class="talk" aria-label="Conversation">
      <h1 class=${turns.length ? "unseen" : ""}>Ask ${shown(collection)}</h1>
      ${!turns.length && !loading && !problem && html`<${Begin} collection=${collection} />`}
      <${Trouble} problem=${problem} />
      ${loading && html`<${Waiting} />`}
      <ol class="turns plain">${turns.map((turn) => html`<li key=${turn.number}><${Turn} collection=${collection} turn=${turn} again=${busy ? null : () => ask(turn.question, { paradigm: turn.paradigm || "auto", where: "" })} /></li>`)}</ol>
      <${Composer} collection=${collection} busy=${busy} ask=${ask} stop=${() => running.current?.abort()} />
    </section>
  </div>`;
}

// A turn as the server stores it: without its evidence, so its blocks have no numbers of passages.
function kept({ question, whole, way, blocks, paradigm }) {
  return { number: next(), question, rewritten: { question: whole, way }, blocks, paradigm, steps: [], running: false, kept: true };
}

function Begin({ collection }) {
  const { collections, me } = useHome();
  const one = collections.find((each) => each.name === collection);
  if (one.trouble) return html`<${Trouble} problem=${{ message: "This collection cannot be asked", cure: one.trouble }} />`;
  if (!one.documents) {
    return html`<p class="soft">There is nothing in this collection yet. <a href=${`#/library/${encodeURIComponent(collection)}`}>Add documents</a>, have them indexed, and ask.</p>`;
  }
  return html`<p class="soft lead">${count(one.documents, "document")}, ${count(one.chunks, "passage")}. Ask in a whole sentence; every answer shows the sentences that it rests on.
    ${me && !me.model && " No model is set, so answers are found and quoted on this machine, and cost nothing."}</p>`;
}

function Composer({ collection, busy, ask, stop }) {
  const { collections, paradigms } = useHome();
  const [question, write] = useState(""), [paradigm, choose] = useState("auto"), [where, restrict] = useState(""), [filtering, filter] = useState(false);
  const box = useRef(null), one = collections.find((each) => each.name === collection);
  useEffect(() => { if (matchMedia("(min-width: 641px)").matches) box.current.focus({ preventScroll: true }); }, []);
  const send = (event) => {
    event.preventDefault();
    if (!question.trim() || busy) return;
    ask(question.trim(), { paradigm, where: where.trim() });
    write("");
  };
  const keys = (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event); };
  const names = paradigms.map((each) => each.name).sort((a, b) => (b === "auto") - (a === "auto"));
  const able = (name) => !missing(paradigms.find((each) => each.name === name), one).length;
  const options = [{ group: "Ready", options: names.filter(able) }];
  if (!names.every(able)) options.push({ group: "Needs more layers", options: names.filter((name) => !able(name)) });
  return html`<div class="composer card">
    ${filtering && html`<${Filter} collection=${collection} where=${where} change=${restrict} />`}
    <form onSubmit=${send}>
      <label class="unseen" for="question">Question</label>
      <textarea id="question" ref=${box} rows="2" value=${question} maxlength="8000" placeholder="Ask a question …" onInput=${(event) => write(event.target.value)} onKeyDown=${keys}></textarea>
      <div class="row apart">
        <div class="row">
          <${Choice} label="Way of answering" hidden value=${paradigm} options=${options} change=${choose} />
          <button type="button" class="quiet" aria-expanded=${filtering} onClick=${() => filter(!filtering)}>Filter${where.trim() && " (set)"}</button>
        </div>
        ${busy ? html`<button type="button" class="stop" onClick=${stop}>Stop</button>` : html`<button type="submit" class="main" disabled=${!question.trim()}>Ask</button>`}
      </div>
      <p class="soft small summary">${shown(paradigms.find((each) => each.name === paradigm)?.summary ?? "")}</p>
    </form>
  </div>`;
}
