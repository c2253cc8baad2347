// Duels: who won against whom, and how the trials spread.
const MOST_BOXES = 40, OUTCOMES = { win: "▲", loss: "▼", tie: "=", "no verdict": "?" };
function drawDuels() {
  const section = part("duels");
  const same = (test) => (pair) => ["run", "judge", "mode"].every((name) => pair[name] === test[name]);
  if (section) render(rowsOf("judge tests").map((test) => html`<${Duel} test=${test} pairs=${rowsOf("duels").filter(same(test))} />`), add(section, "div"));
}
function Duel({ test, pairs }) {
  const { passed, why } = test;
  return html`<div class="duel"><h3>${shown(`${runs.length > 1 ? `${test.run}: ` : ""}judged by ${test.judge || "no model"}${test.mode === "differential" ? ", on what only one of two says" : ""}`)}</h3>
    <p><b class=${passed ? "right" : "wrong"}>${passed ? "✓ The judge passed its own test. " : "✗ No verdict: "}</b>${shown(passed ? `It preferred ${count(test.preferred, "right answer")} of ${test.preferred + test.ties + test.other} to answers to other questions. ` : `${why}. `)}
      <span class="soft">${count(test.questions, "question")}, ${count(test.trials, "trial")}, ${test.samples === 1 ? "1 reply" : `${test.samples} replies`} in each order.</span></p>
    ${test.warnings && html`<p class="wrong">${shown(`⚠ ${test.warnings}`)}</p>`}
    <${Heat} pairs=${pairs} />
    <${Boxes} every=${pairs.filter((pair) => known(pair.median))} />
    <details><summary>Every pair, with counts</summary><${Grid} caption="Duels" rows=${pairs} most=${60} columns=${duelColumns()} /></details></div>`;
}
function Heat({ pairs }) {
  const names = unique(pairs.flatMap((pair) => [pair.a, pair.b])).sort();
  const seen = (pair, row) => ({ ...pair, rate: known(pair.rate) ? (row === pair.a ? 1 : -1) * pair.rate : null, outcome: pair.outcome === "win" && pair.winner !== row ? "loss" : pair.outcome });
  const cell = (row, column) => {
    if (row === column) return html`<td class="self">·</td>`;
    const pair = pairs.find((one) => (one.a === row && one.b === column) || (one.a === column && one.b === row));
    if (!pair) return html`<td>–</td>`;
    const { rate, outcome, adjusted } = seen(pair, row), none = outcome === "no verdict";
    const title = `${row} against ${column}: ${outcome}${known(rate) ? `, ${percent(rate)}` : ""}${known(adjusted) ? `, p = ${chance(adjusted)}` : ""}`;
    return html`<td class=${none ? "none" : rate > 0 ? "over" : rate < 0 ? "under" : ""} style=${{ "--much": `${Math.round(Math.min(1, Math.abs(rate ?? 0)) * 85)}%` }} title=${shown(title)}>
      <span>${none ? "no verdict" : `${OUTCOMES[outcome]} ${percent(rate)}`}</span>${none && known(rate) && html`<small>${percent(rate)}</small>`}</td>`;
  };
  return html`<p class="soft">Relative win rate of the row over the column: (won − lost) / all. ▲ the row wins, ▼ it loses, = tie.</p>
    <div class="frame"><table class="heat"><caption>Row against column</caption>
      <thead><tr><td></td>${names.map((name) => html`<th scope="col">${shown(name)}</th>`)}</tr></thead>
      <tbody>${names.map((row) => html`<tr><th scope="row" class="text">${nameOf(row)}</th>${names.map((column) => cell(row, column))}</tr>`)}</tbody></table></div>`;
}
function Boxes({ every }) {
  const [of, choose] = useState(""), [box, width] = useWidth(), clear = (pair) => Math.abs(pair.median);
  const some = new Set(every.filter((pair) => !of || pair.a === of || pair.b === of).sort((a, b) => clear(b) - clear(a)).slice(0, MOST_BOXES));
  const fighters = [...new Set(every.flatMap((pair) => [pair.a, pair.b]))].sort();
  return html`${every.length > MOST_BOXES && html`<div class="controls"><label>Spread of the trials for <select onChange=${(event) => choose(event.target.value)}>
      <option value="">the ${MOST_BOXES} clearest of ${every.length} pairs</option>${fighters.map((name) => html`<option value=${name}>${shown(name)}</option>`)}</select></label></div>`}
    <div class="frame plot" ref=${box} hidden=${!every.length}>${width > 0 && every.length > 0 && html`<${BoxPlot} pairs=${every.filter((pair) => some.has(pair))} width=${Math.max(340, width - 2)} />`}</div>`;
}
function BoxPlot({ pairs, width }) {
  const said = (pair) => `${pair.a} – ${pair.b}`, line = 26, top = 34, label = Math.min(width * .42, Math.max(...pairs.map((pair) => wide(said(pair), 12))) + 16);
  const left = label + 12, right = width - 26, height = top + pairs.length * line + 30, bottom = height - 26, x = (value) => left + (value + 1) / 2 * (right - left);
  const one = (pair, at) => {
    const y = top + at * line + line / 2 - 2, box = pair, outliers = pair.outliers ? pair.outliers.split(" ").map(Number) : [];
    return html`<g class=${pair.outcome === "no verdict" ? "box none" : "box"}>
      <title>${shown(`${said(pair)}: median ${percent(box.median)}, quartiles ${percent(box.first)} and ${percent(box.third)}, ${pair.words}`)}</title>
      <text x=${label} y=${y + 4} text-anchor="end">${shown(clipped(said(pair), label))}</text>
      <line class="span" x1=${x(box.least)} x2=${x(box.most)} y1=${y} y2=${y} />
      ${[box.least, box.most].map((end) => html`<line class="span" x1=${x(end)} x2=${x(end)} y1=${y - 5} y2=${y + 5} />`)}
      <rect x=${x(box.first) - .5} y=${y - 7} width=${Math.max(1, x(box.third) - x(box.first)) + 1} height="14" rx="2" />
      <line class="median" x1=${x(box.median)} x2=${x(box.median)} y1=${y - 8} y2=${y + 8} />
      ${outliers.map((out) => html`<circle class="outlier" cx=${x(out)} cy=${y} r="2.6" />`)}</g>`;
  };
  return html`<svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label="Box plots of the trials of each duel: relative win rate of the first over the second; the same as a table below">
    <text class="soft" x=${left} y="16">← second wins</text><text class="soft" x=${right} y="16" text-anchor="end">first wins →</text>
    ${[-1, -.5, 0, .5, 1].map((tick) => html`<line class=${tick ? "rule" : "zero"} x1=${x(tick)} x2=${x(tick)} y1=${top - 8} y2=${bottom} /><text class="soft" x=${x(tick)} y=${bottom + 16} text-anchor="middle">${percent(tick)}</text>`)}
    ${pairs.map(one)}</svg>`;
}
function clipped(text, width) {
  let short = text;
  while (short.length > 4 && wide(short, 12) > width) short = short.slice(0, -2);
  return short === text ? text : `${short}…`;
}
const duelColumns = () => [
    { label: "first", head: true, value: (pair) => pair.a, cell: (pair) => nameOf(pair.a) }, { label: "second", text: true, value: (pair) => pair.b, cell: (pair) => nameOf(pair.b) },
    { label: "verdict", text: true, value: (pair) => pair.words }, { label: "rests on", text: true, value: (pair) => pair.basis },
    { label: "points for taste", value: (pair) => pair.taste, show: figure }, { label: "rate", value: (pair) => pair.rate, show: percent },
    { label: "interval", value: (pair) => pair.low, cell: (pair) => known(pair.low) ? `${percent(pair.low)} to ${percent(pair.high)}` : "–" },
    { label: "won / tied / lost", value: (pair) => pair.won - pair.lost, cell: (pair) => `${pair.won} / ${pair.tied} / ${pair.lost}` },
    { label: "questions", value: (pair) => pair.n }, { label: "pairs judged", value: (pair) => pair.judged, cell: (pair) => `${pair.judged} of ${pair.pairs}` },
    { label: "left out", text: true, value: (pair) => pair.left_out || "none" }, { label: "replies unscored", text: true, value: (pair) => pair.unscored || "none" },
    { label: "written again to equal length", text: true, value: (pair) => pair.rewritten || "none" },
];
