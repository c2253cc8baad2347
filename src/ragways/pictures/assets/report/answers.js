// One question opened: every answer with what it rests on and what was said of it.
const SIGNS = { right: "✓", wrong: "✗", partly: "~", unscored: "?", failed: "!", none: "·" };
const SAID = { right: "right", wrong: "wrong", partly: "in part", unscored: "unscored", failed: "failed", none: "not asked" };
let pieces = [];
function outcome(value, metric) {
  if (value >= 1) return better(metric) > 0 ? "right" : "wrong";
  if (value <= 0) return better(metric) > 0 ? "wrong" : "right";
  return "partly";
}
// Of all repeats of one paradigm: the mean, and what it comes to.
function judged(answers, metric) {
  if (!answers.length) return { kind: "none", value: null };
  const values = answers.map((one) => one.values[metric]).filter(known);
  if (values.length) {
    const value = values.reduce((sum, one) => sum + one, 0) / values.length;
    return { kind: outcome(value, metric), value };
  }
  return { kind: answers.every((one) => one.error) ? "failed" : "unscored", value: null };
}
function Badge({ found: { kind, value }, metric }) {
  return html`<span class=${`badge ${kind}`} title=${shown(`${metric}: ${known(value) ? figure(value) : SAID[kind]}`)}>${SIGNS[kind]} ${SAID[kind]}${kind === "partly" ? ` ${figure(value)}` : ""}</span>`;
}
function Opened({ question, metric, chosen }) {
  const wanted = (one) => [one.title, one.key, one.quote ? `“${one.quote}”` : "", one.text ? one.text.slice(0, 200) : ""].filter(Boolean).join(": ");
  const cards = chosen.map((name) => [name, question.answers.filter((one) => one.paradigm === name)]).filter(([, some]) => some.length);
  return html`<div class="facts"><${Line} label="gold" text=${question.gold.length ? question.gold.join(" · ") : "none given"} />${question.wanted.map((one) => html`<${Line} label="gold evidence" text=${wanted(one)} />`)}</div>
    <div class="cards">${cards.map(([name, answers]) => html`<${Card} name=${name} answers=${answers} metric=${metric} />`)}${!cards.length && html`<p class="soft">None of the chosen paradigms was asked this.</p>`}</div>`;
}
const Line = ({ label, text }) => html`<p><span class="label">${label} </span><span dir="auto">${shown(text)}</span></p>`;
function Card({ name, answers, metric }) {
  return html`<article class=${`card ${colourOf(name)}`}><header><h4>${nameOf(name)}</h4><${Badge} found=${judged(answers, metric)} metric=${metric} /></header>
    ${answers.map((one) => html`${answers.length > 1 && html`<p class="repeat">repeat ${one.repeat + 1} <${Badge} found=${judged([one], metric)} metric=${metric} /></p>`}<${Answer} one=${one} />`)}</article>`;
}
function Answer({ one }) {
  if (one.error) return html`<p class="wrong answer">${shown(`failed: ${one.error}`)}</p>`;
  const usage = one.usage ?? {}, found = one.evidence ?? [], tools = Object.entries(one.tools ?? {}).map(([tool, calls]) => `${tool} ${calls}`).join(", ");
  const cost = [one.abstained ? "abstained" : "", `${amount(one.seconds)} s`, ...(usage.input || usage.output ? [`${whole((usage.input ?? 0) + (usage.output ?? 0))} tokens`, `${whole(usage.calls)} calls`] : []),
    usage.usd ? `$${amount(usage.usd)}` : "", one.way === "rule" ? "by rule, without a model" : one.way].filter(Boolean);
  return html`<p class=${one.abstained ? "answer abstained" : "answer"} dir="auto" tabindex=${one.answer.length > 600 ? 0 : -1}>${shown(one.answer || "(an empty answer)")}</p>
    <p class="soft">${shown(cost.join(" · "))}</p>
    ${tools && html`<p class="soft">${shown(`tools: ${tools}`)}</p>`}
    <${Unfold} summary=${judgements(one)} fill=${() => html`<${Scores} one=${one} />`} />
    <${Unfold} summary=${[`${found.length} ${found.length === 1 ? "piece" : "pieces"} of evidence`, ...gold(one.ranks ?? [])].join("; ")} fill=${() => html`<${EvidenceOf} one=${one} />`} />`;
}
function gold(ranks) {
  const seen = ranks.filter(known), lost = ranks.length - seen.length;
  return [seen.length ? `gold at ${seen.length > 1 ? "ranks" : "rank"} ${seen.join(", ")}` : "", lost ? `${seen.length ? `${lost} not found` : "gold not found"}` : ""].filter(Boolean);
}
const judgements = (one) => `${Object.keys(one.values).length} scores${one.details ? ` and what the judges said` : ""}${one.why ? `, ${Object.keys(one.why).length} unscored` : ""}`;
// Written when it is opened for the first time.
function Unfold({ summary, fill }) {
  const [opened, open] = useState(false);
  return html`<details onToggle=${(event) => event.target.open && open(true)}><summary>${shown(summary)}</summary>${opened && html`<div>${fill()}</div>`}</details>`;
}
function Scores({ one }) {
  const some = allMetrics.filter(({ name }) => name in one.values || (one.why && name in one.why));
  const said = (name) => name in one.values ? html`<b>${amount(one.values[name]) === "0" ? "0" : String(one.values[name])}</b>` : html`<span class="soft">${shown(`unscored: ${one.why[name] || "no reason given"}`)}</span>`;
  return html`<dl class="scores">${some.map(({ name, summary }) => html`<dt title=${shown(summary)}>${name}</dt><dd>${said(name)}</dd>`)}</dl>
    ${(one.details ?? []).map(({ metrics, said: told }) => html`<div class="judged"><p class="label">${metrics.join(", ")}</p><${Tree} value=${told} /></div>`)}`;
}
// What a judge left behind, as deep as it goes; what is flat stands on one line.
const flat = (value) => value === null || typeof value !== "object";
const Leaf = ({ value }) => html`<span dir="auto">${shown(value === true ? "yes" : value === false ? "no" : value ?? "–")}</span>`;
const Label = ({ name }) => html`<span class="label">${shown(name.replaceAll("_", " "))} </span>`;
function Tree({ value }) {
  if (flat(value)) return html`<${Leaf} value=${value} />`;
  if (!Array.isArray(value) && Object.values(value).every(flat)) return Object.entries(value).map(([name, item], at) => html`${at ? " · " : ""}<${Label} name=${name} /><${Leaf} value=${item} />`);
  return html`<ul>${Object.entries(value).map(([name, item]) => html`<li>${!Array.isArray(value) && html`<${Label} name=${name} />`}<${Tree} value=${item} /></li>`)}</ul>`;
}
function EvidenceOf({ one }) {
  const cited = new Set(one.cited ?? []);
  if (!one.evidence) return html`<p class="soft">Nothing was found, or nothing was looked for.</p>`;
  return one.evidence.map(([at, points], number) => html`<div class="piece"><p><b>${shown(`[${number + 1}] ${pieces[at].title || pieces[at].id || ""}`)}</b>${shown(` ${pieces[at].date ? `(${pieces[at].date}) ` : ""}`)}<code>${shown(pieces[at].id ?? "")}</code>
      ${known(points) && html`<span class="soft"> ${points}</span>`}${cited.has(number + 1) && html`<span class="tag"> cited</span>`}</p><p class="text" dir="auto">${shown(pieces[at].text)}</p></div>`);
}
