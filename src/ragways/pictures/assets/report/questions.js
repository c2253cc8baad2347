// Every question: found, filtered, opened. What is chosen stands in the address, so that it can be passed on.
const FIRST = 40;
const state = { search: "", type: "", metric: allMetrics[0].name, outcome: "", paradigm: "", disagree: "", q: "" };
const open = new Set();
let all = [], found = [], drawn = 0, controls = {}, list = null, status = null, hiddenNames = new Set();
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

function readQuestions() {
  const tag = by("answers"), read = JSON.parse(tag.textContent);
  tag.remove();
  pieces = read.pieces;
  all = read.questions;
  for (const question of all) {
    question.by = new Map();
    for (const one of question.answers) {
      if (!question.by.has(one.paradigm)) question.by.set(one.paradigm, []);
      question.by.get(one.paradigm).push(one);
    }
  }
  return read.evidence_cut_at;
}
function words(question) {
  question.words ??= plain([question.id, question.text, ...question.gold, ...question.answers.map((one) => one.answer + " " + (one.error ?? ""))].join("\n"));
  return question.words;
}
function results(question) {
  if (question.metric !== state.metric) {
    question.metric = state.metric;
    question.results = new Map(names.map((name) => [name, judged(question.by.get(name) ?? [], state.metric)]));
  }
  return question.results;
}
function disagree(question) {
  const values = [...results(question).values()].map((one) => one.value).filter(known);
  return values.length > 1 && Math.max(...values) - Math.min(...values) >= .5;
}
function fits(question, search) {
  if (state.type && (question.type || "(none)") !== state.type) return false;
  if (search && !search.every((word) => words(question).includes(word))) return false;
  if (state.disagree && !disagree(question)) return false;
  if (!state.outcome) return !state.paradigm || question.by.has(state.paradigm);
  return (state.paradigm ? [state.paradigm] : names).some((name) => results(question).get(name)?.kind === state.outcome);
}
function filter() {
  const search = plain(state.search).split(/\s+/).filter(Boolean);
  found = all.filter((question) => fits(question, search.length ? search : null));
  drawn = 0;
  list.replaceChildren();
  grow();
  status.textContent = found.length === all.length ? `${all.length.toLocaleString("en")} questions` : `${found.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} questions`;
  controls.clear.disabled = !(state.search || state.type || state.outcome || state.paradigm || state.disagree);
  if (!found.length) add(list, "p", "No question fits: clear the filters.", "soft");
}
function grow(upTo = drawn + FIRST) {
  for (; drawn < Math.min(upTo, found.length); drawn++) item(found[drawn]);
  controls.more.hidden = drawn >= found.length;
  controls.more.textContent = `Show more (${(found.length - drawn).toLocaleString("en")} left)`;
}
function item(question) {
  const box = add(list, "article", undefined, "question"), head = add(box, "h3"), button = add(head, "button");
  box.dataset.id = question.id;
  const said = add(button, "span", undefined, "said");
  add(said, "code", question.id);
  if (question.type) add(said, "span", question.type, "type");
  add(said, "span", question.text, "text").dir = "auto";
  const strip = add(button, "span", undefined, "strip"), counts = {};
  for (const name of names) {
    const result = results(question).get(name);
    counts[result.kind] = (counts[result.kind] ?? 0) + 1;
    const one = add(strip, "i", SIGNS[result.kind], result.kind);
    one.title = shown(`${name}: ${SAID[result.kind]}${known(result.value) ? ` (${state.metric} ${figure(result.value)})` : ""}`);
  }
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", Object.entries(counts).map(([kind, count]) => `${count} ${SAID[kind]}`).join(", "));
  const body = add(box, "div", undefined, "body");
  const turn = (show) => {
    button.setAttribute("aria-expanded", String(show));
    body.hidden = !show;
    render(show ? html`<${Opened} question=${question} metric=${state.metric} chosen=${names.filter((name) => !hiddenNames.has(name))} />` : null, body);
  };
  turn(open.has(question.id));
  button.addEventListener("click", () => {
    const show = !open.has(question.id);
    if (show) open.add(question.id); else open.delete(question.id);
    state.q = show ? question.id : "";
    turn(show);
    keep();
  });
}
// The address
function keep() {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value && !(name === "metric" && value === allMetrics[0].name)) parts.set(name, value);
  history.replaceState(null, "", `#${parts.toString() || "questions"}`);
}
function take() {
  const text = location.hash.slice(1);
  if (!text.includes("=")) return;
  const parts = new URLSearchParams(text);
  for (const name of Object.keys(state)) state[name] = parts.get(name) ?? (name === "metric" ? allMetrics[0].name : "");
  if (!metrics.has(state.metric)) state.metric = allMetrics[0].name;
  for (const name of ["search", "type", "metric", "outcome", "paradigm"]) controls[name].value = state[name];
  controls.disagree.checked = Boolean(state.disagree);
  if (state.q) open.add(state.q);
  filter();
  reach();
}
function reach() {
  if (!state.q) { by("questions").scrollIntoView(); return; }
  let at = found.findIndex((question) => question.id === state.q);
  if (at < 0 && all.some((question) => question.id === state.q)) {
    // Asked for by name, it is shown whatever the filters say.
    found = all.filter((question) => question.id === state.q || found.includes(question));
    at = found.findIndex((question) => question.id === state.q);
    drawn = 0;
    list.replaceChildren();
  }
  if (at < 0) return;
  grow(Math.max(at + 1, FIRST));
  const box = [...list.children].find((one) => one.dataset.id === state.q);
  box.scrollIntoView();
  box.querySelector("button").focus({ preventScroll: true });
}
function drawQuestions() {
  const section = by("questions"), cut = readQuestions();
  add(section, "p", `Every answer side by side. By the chosen metric: ✓ right (1), ✗ wrong (0 or less), ~ in part, ? unscored, ! failed, · not asked; of several repeats, their mean. Evidence is shown up to ${cut.toLocaleString("en")} characters a piece. Keys: / to search, ↓ and ↑ from question to question.`, "soft");
  const bar = add(section, "div", undefined, "controls filters");
  bar.setAttribute("role", "search");
  const box = add(bar, "label", "Search ");
  controls.search = add(box, "input");
  controls.search.type = "search";
  controls.search.placeholder = "question, answer, id";
  controls.search.autocomplete = "off";
  const set = (name) => (value) => { state[name] = value; filter(); keep(); };
  let wait = 0;
  controls.search.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(() => set("search")(controls.search.value), 120); });
  const types = [...new Set(all.map((question) => question.type || "(none)"))].sort();
  controls.type = choice(bar, "Type", [["", "all"], ...types.map((type) => [type, shown(type)])], "", set("type"));
  controls.outcome = choice(bar, "Answers", [["", "any"], ...["right", "wrong", "partly", "unscored", "failed"].map((kind) => [kind, `${SIGNS[kind]} ${SAID[kind]}`])], "", set("outcome"));
  controls.paradigm = choice(bar, "of", [["", "some paradigm"], ...names.map((name) => [name, shown(name)])], "", set("paradigm"));
  controls.metric = metricChoice(bar, state.metric, set("metric"), "by");
  const tick = add(bar, "label", undefined, "tick");
  tick.title = "The best and the worst paradigm differ by at least 0.5.";
  controls.disagree = add(tick, "input");
  controls.disagree.type = "checkbox";
  tick.append(" where paradigms disagree");
  controls.disagree.addEventListener("change", () => set("disagree")(controls.disagree.checked ? "1" : ""));
  controls.clear = add(bar, "button", "Clear");
  controls.clear.addEventListener("click", () => { location.hash = state.metric === allMetrics[0].name ? "#type=" : `#metric=${encodeURIComponent(state.metric)}`; });
  status = add(bar, "span", "", "status");
  status.setAttribute("role", "status");
  side(section);
  list = add(section, "div", undefined, "list");
  controls.more = add(section, "button", "", "more");
  controls.more.addEventListener("click", () => grow());
  new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting) && drawn) grow(); }, { rootMargin: "600px" }).observe(controls.more);
  filter();
  window.addEventListener("hashchange", take);
  take();
}
// Which paradigms are shown side by side.
function side(section) {
  const details = add(section, "details", undefined, "side");
  add(details, "summary", "Paradigms shown side by side");
  const bar = add(details, "div", undefined, "controls");
  for (const name of names) {
    const label = add(bar, "label", undefined, "tick"), input = add(label, "input");
    input.type = "checkbox";
    input.checked = true;
    label.append(" ");
    named(label, name);
    input.addEventListener("change", () => { if (input.checked) hiddenNames.delete(name); else hiddenNames.add(name); filter(); });
  }
}
document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input, select, textarea");
  if (event.key === "Escape" && event.target === controls.search) { controls.search.value = ""; controls.search.dispatchEvent(new Event("input")); return; }
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") { event.preventDefault(); by("questions").scrollIntoView(); controls.search?.focus(); return; }
  const here = event.target.closest?.(".question > h3 > button"), way = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
  if (!here || !way) return;
  const buttons = [...list.querySelectorAll(".question > h3 > button")], next = buttons[buttons.indexOf(here) + way];
  if (next) { event.preventDefault(); next.focus(); }
});
