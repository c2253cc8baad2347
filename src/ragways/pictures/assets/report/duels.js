// Duels: who won against whom, and how the trials spread.
function drawDuels() {
  const section = part("duels");
  if (!section) return;
  for (const duel of data.duels) {
    const place = add(section, "div", undefined, "duel");
    add(place, "h3", `${data.runs.length > 1 ? `${duel.run}: ` : ""}judged by ${duel.judge || "no model"}${duel.rules.mode === "differential" ? ", on what only one of two says" : ""}`);
    const test = add(place, "p");
    add(test, "b", duel.selftest.passed ? "✓ The judge passed its own test. " : "✗ No verdict: ", duel.selftest.passed ? "right" : "wrong");
    test.append(shown(duel.selftest.passed ? `Position bias ${percent(duel.selftest.position.bias)}, length bias ${percent(duel.selftest.length.bias)}. ` : `${duel.selftest.why}. `));
    add(test, "span", `${count(duel.questions, "question")}, ${count(duel.rules.trials, "trial")}, ${duel.rules.samples === 1 ? "1 reply" : `${duel.rules.samples} replies`} in each order. Seed of the draw: ${duel.rules.seed}.`, "soft");
    const tests = duel.selftests.map((run) => `seed ${run.rules.seed} ${run.passed ? "passed" : "not passed"}`).join(", ");
    if (tests) add(place, "p", `Tests of this judge in this folder: ${tests}.`, "soft");
    for (const warning of duel.warnings) add(place, "p", `⚠ ${warning}`, "wrong");
    heat(place, duel.map);
    boxes(place, duel.pairs);
    verdicts(place, duel.pairs);
  }
}
function heat(parent, map) {
  const signs = { win: "▲", loss: "▼", tie: "=", "no verdict": "?" };
  add(parent, "p", "Relative win rate of the row over the column: (won − lost) / all. ▲ the row wins, ▼ it loses, = tie.", "soft");
  const frame = add(parent, "div", undefined, "frame"), table = add(frame, "table", undefined, "heat");
  add(table, "caption", "Row against column");
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  add(head, "td");
  for (const name of map.names) { const th = add(head, "th", name); th.scope = "col"; }
  map.names.forEach((row, i) => {
    const line = add(body, "tr"), th = add(line, "th", undefined, "text");
    th.scope = "row";
    named(th, row);
    map.names.forEach((column, j) => {
      const rate = map.rates[i][j], outcome = map.outcomes[i][j], td = add(line, "td");
      if (i === j) { td.textContent = "·"; td.className = "self"; return; }
      if (outcome === null) { td.textContent = "–"; return; }
      td.className = outcome === "no verdict" ? "none" : rate > 0 ? "over" : rate < 0 ? "under" : "";
      td.style.setProperty("--much", `${Math.round(Math.min(1, Math.abs(rate ?? 0)) * 85)}%`);
      add(td, "span", outcome === "no verdict" ? "no verdict" : `${signs[outcome]} ${percent(rate)}`);
      if (outcome === "no verdict" && known(rate)) add(td, "small", percent(rate));
      td.title = shown(`${row} against ${column}: ${outcome}${known(rate) ? `, ${percent(rate)}` : ""}${known(map.adjusted[i][j]) ? `, p = ${chance(map.adjusted[i][j])}` : ""}`);
    });
  });
}
const MOST_BOXES = 40;
function boxes(parent, pairs) {
  const every = pairs.filter((pair) => pair.box);
  if (!every.length) return;
  const bar = add(parent, "div", undefined, "controls"), frame = add(parent, "div", undefined, "frame plot");
  let drawn = [];
  if (every.length > MOST_BOXES) {
    const fighters = [...new Set(every.flatMap((pair) => [pair.a, pair.b]))].sort();
    choice(bar, "Spread of the trials for", [["", `the ${MOST_BOXES} clearest of ${every.length} pairs`], ...fighters.map((name) => [name, shown(name)])], "", (name) => { choose(name); paint(); });
  } else bar.remove();
  const clear = (pair) => Math.abs(pair.box.median);
  function choose(name) {
    const some = new Set([...every].filter((pair) => !name || pair.a === name || pair.b === name).sort((a, b) => clear(b) - clear(a)).slice(0, MOST_BOXES));
    drawn = every.filter((pair) => some.has(pair));
  }
  choose("");
  function paint() {
    frame.replaceChildren();
    const said = (pair) => `${pair.a} – ${pair.b}`, width = Math.max(340, frame.clientWidth - 2), line = 26, top = 34;
    const names = Math.min(width * .42, Math.max(...drawn.map((pair) => wide(said(pair), 12))) + 16), left = names + 12, right = width - 26, height = top + drawn.length * line + 30;
    const svg = picture(frame, width, height, "Box plots of the trials of each duel: relative win rate of the first over the second; the same as a table below");
    const x = (value) => left + (value + 1) / 2 * (right - left), bottom = height - 26;
    write(svg, "← second wins", { x: left, y: 16 }, "soft");
    write(svg, "first wins →", { x: right, y: 16, "text-anchor": "end" }, "soft");
    for (const tick of [-1, -.5, 0, .5, 1]) {
      draw(svg, "line", { x1: x(tick), x2: x(tick), y1: top - 8, y2: bottom }, tick ? "rule" : "zero");
      write(svg, percent(tick), { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, "soft");
    }
    drawn.forEach((pair, at) => {
      const y = top + at * line + line / 2 - 2, { box } = pair, none = pair.verdict.outcome === "no verdict";
      const group = draw(svg, "g", {}, none ? "box none" : "box");
      draw(group, "title", {}).textContent = shown(`${said(pair)}: median ${percent(box.median)}, quartiles ${percent(box.first)} and ${percent(box.third)}, ${box.n} trials. ${pair.verdict.words}`);
      write(group, clipped(said(pair), names), { x: names, y: y + 4, "text-anchor": "end" });
      draw(group, "line", { x1: x(box.low), x2: x(box.high), y1: y, y2: y }, "span");
      for (const end of [box.low, box.high]) draw(group, "line", { x1: x(end), x2: x(end), y1: y - 5, y2: y + 5 }, "span");
      draw(group, "rect", { x: x(box.first) - .5, y: y - 7, width: Math.max(1, x(box.third) - x(box.first)) + 1, height: 14, rx: 2 });
      draw(group, "line", { x1: x(box.median), x2: x(box.median), y1: y - 8, y2: y + 8 }, "median");
      for (const out of box.outliers) draw(group, "circle", { cx: x(out), cy: y, r: 2.6 }, "outlier");
    });
  }
  paint();
  onResize(paint);
}
function clipped(text, width) {
  let short = text;
  while (short.length > 4 && wide(short, 12) > width) short = short.slice(0, -2);
  return short === text ? text : `${short}…`;
}
function verdicts(parent, pairs) {
  const details = add(parent, "details");
  add(details, "summary", "Every pair, with counts");
  grid(details, "Duels", [
    { label: "first", head: true, value: (pair) => pair.a, cell: (pair) => nameOf(pair.a) }, { label: "second", text: true, value: (pair) => pair.b, cell: (pair) => nameOf(pair.b) },
    { label: "verdict", text: true, value: (pair) => pair.verdict.words }, { label: "rate", value: (pair) => pair.rate, show: percent },
    { label: "interval", value: (pair) => pair.low, cell: (pair) => known(pair.low) ? `${percent(pair.low)} to ${percent(pair.high)}` : "–" },
    { label: "won / tied / lost", value: (pair) => pair.rounds.a - pair.rounds.b, cell: (pair) => `${pair.rounds.a} / ${pair.rounds.ties} / ${pair.rounds.b}` },
    { label: "questions", value: (pair) => pair.n }, { label: "pairs judged", value: (pair) => pair.judged, cell: (pair) => `${pair.judged} of ${pair.pairs}` },
    { label: "left out", text: true, value: (pair) => reasons(pair.left_out) || "none" }, { label: "replies unscored", text: true, value: (pair) => reasons(pair.replies.unscored) || "none" },
    { label: "written again to equal length", text: true, value: (pair) => reasons(pair.rewritten) ? `${reasons(pair.rewritten)}, by ${pair.writers.join(", ")}` : "none" },
  ], pairs, { most: 60 });
}
