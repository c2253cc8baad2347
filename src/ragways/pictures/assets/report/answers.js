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
function badge(parent, { kind, value }, metric) {
  const sign = add(parent, "span", `${SIGNS[kind]} ${SAID[kind]}`, `badge ${kind}`);
  sign.title = shown(`${metric}: ${known(value) ? figure(value) : SAID[kind]}`);
  if (kind === "partly") sign.append(` ${figure(value)}`);
}
function opened(parent, question, metric, chosen) {
  const facts = add(parent, "div", undefined, "facts");
  line(facts, "gold", question.gold.length ? question.gold.join(" · ") : "none given");
  for (const wanted of question.wanted) line(facts, "gold evidence", [wanted.title, wanted.key, wanted.quote ? `“${wanted.quote}”` : "", wanted.text ? wanted.text.slice(0, 200) : ""].filter(Boolean).join(": "));
  const cards = add(parent, "div", undefined, "cards");
  for (const name of chosen) {
    const some = question.answers.filter((one) => one.paradigm === name);
    if (some.length) card(cards, name, some, metric);
  }
  if (!cards.children.length) add(cards, "p", "None of the chosen paradigms was asked this.", "soft");
}
function line(parent, label, text) {
  const row = add(parent, "p");
  add(row, "span", `${label} `, "label");
  const said = add(row, "span", text);
  said.dir = "auto";
}
function card(parent, name, answers, metric) {
  const box = add(parent, "article", undefined, `card ${colourOf(name)}`), head = add(box, "header"), title = add(head, "h4");
  named(title, name);
  badge(head, judged(answers, metric), metric);
  for (const one of answers) {
    if (answers.length > 1) {
      const repeat = add(box, "p", `repeat ${one.repeat + 1} `, "repeat");
      badge(repeat, judged([one], metric), metric);
    }
    answer(box, one);
  }
}
function answer(box, one) {
  if (one.error) { add(box, "p", `failed: ${one.error}`, "wrong answer"); return; }
  const text = add(box, "p", one.answer || "(an empty answer)", one.abstained ? "answer abstained" : "answer");
  text.dir = "auto";
  text.tabIndex = one.answer.length > 600 ? 0 : -1;
  const usage = one.usage ?? {}, cost = [];
  if (one.abstained) cost.push("abstained");
  cost.push(`${amount(one.seconds)} s`);
  if (usage.input || usage.output) cost.push(`${whole((usage.input ?? 0) + (usage.output ?? 0))} tokens`, `${whole(usage.calls)} calls`);
  if (usage.usd) cost.push(`$${amount(usage.usd)}`);
  if (one.way) cost.push(one.way === "rule" ? "by rule, without a model" : one.way);
  add(box, "p", cost.join(" · "), "soft");
  const tools = Object.entries(one.tools ?? {}).map(([tool, calls]) => `${tool} ${calls}`).join(", ");
  if (tools) add(box, "p", `tools: ${tools}`, "soft");
  unfold(box, judgements(one), (place) => scores(place, one));
  const found = one.evidence ?? [];
  unfold(box, [`${found.length} ${found.length === 1 ? "piece" : "pieces"} of evidence`, ...gold(one.ranks ?? [])].join("; "), (place) => evidence(place, one));
}
function gold(ranks) {
  const seen = ranks.filter(known), lost = ranks.length - seen.length;
  return [seen.length ? `gold at ${seen.length > 1 ? "ranks" : "rank"} ${seen.join(", ")}` : "", lost ? `${seen.length ? `${lost} not found` : "gold not found"}` : ""].filter(Boolean);
}
const judgements = (one) => `${Object.keys(one.values).length} scores${one.details ? ` and what the judges said` : ""}${one.why ? `, ${Object.keys(one.why).length} unscored` : ""}`;
// Written when it is opened for the first time.
function unfold(parent, summary, fill) {
  const details = add(parent, "details");
  add(details, "summary", summary);
  details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) fill(add(details, "div")); });
}
function scores(place, one) {
  const list = add(place, "dl", undefined, "scores");
  for (const { name, summary } of data.metrics) {
    if (!(name in one.values) && !(one.why && name in one.why)) continue;
    add(list, "dt", name).title = shown(summary);
    const said = add(list, "dd");
    if (name in one.values) add(said, "b", amount(one.values[name]) === "0" ? "0" : String(one.values[name]));
    else add(said, "span", `unscored: ${one.why[name] || "no reason given"}`, "soft");
  }
  for (const { metrics, said } of one.details ?? []) {
    const box = add(place, "div", undefined, "judged");
    add(box, "p", metrics.join(", "), "label");
    tree(box, said);
  }
}
// What a judge left behind, as deep as it goes; what is flat stands on one line.
const flat = (value) => value === null || typeof value !== "object";
function leaf(parent, value) { add(parent, "span", value === true ? "yes" : value === false ? "no" : value ?? "–").dir = "auto"; }
function tree(parent, value) {
  if (flat(value)) { leaf(parent, value); return; }
  if (!Array.isArray(value) && Object.values(value).every(flat)) {
    Object.entries(value).forEach(([name, item], at) => {
      if (at) parent.append(" · ");
      add(parent, "span", `${name.replaceAll("_", " ")} `, "label");
      leaf(parent, item);
    });
    return;
  }
  const list = add(parent, "ul");
  for (const [name, item] of Object.entries(value)) {
    const row = add(list, "li");
    if (!Array.isArray(value)) add(row, "span", `${name.replaceAll("_", " ")} `, "label");
    tree(row, item);
  }
}
function evidence(place, one) {
  const cited = new Set(one.cited ?? []);
  (one.evidence ?? []).forEach(([at, points], number) => {
    const piece = pieces[at], item = add(place, "div", undefined, "piece"), head = add(item, "p");
    add(head, "b", `[${number + 1}] ${piece.title || piece.id || ""}`);
    head.append(shown(` ${piece.date ? `(${piece.date}) ` : ""}`));
    add(head, "code", piece.id ?? "");
    if (known(points)) add(head, "span", ` ${points}`, "soft");
    if (cited.has(number + 1)) add(head, "span", " cited", "tag");
    add(item, "p", piece.text, "text").dir = "auto";
  });
  if (!one.evidence) add(place, "p", "Nothing was found, or nothing was looked for.", "soft");
}
