// Differences between paradigms, question by question.
function drawComparisons() {
  const section = part("comparisons");
  if (!section) return;
  const pairs = rowsOf("comparisons"), tables = rowsOf("power").map((one) => ({ ...one, rows: pairs.filter((row) => row.metric === one.metric) }));
  const bar = add(section, "div", undefined, "controls"), place = add(section, "div"), state = { metric: tables[0].metric, name: "", differ: false };
  choice(bar, "Metric", tables.map((table) => table.metric), state.metric, (value) => { state.metric = value; show(); });
  choice(bar, "Paradigm", [["", "every pair"], ...names.map((name) => [name, shown(name)])], "", (value) => { state.name = value; show(); });
  const box = add(bar, "label", undefined, "tick"), tick = add(box, "input");
  tick.type = "checkbox";
  box.append(" only where a difference was shown");
  tick.addEventListener("change", () => { state.differ = tick.checked; show(); });
  for (const note of notesOf("comparisons")) add(section, "p", note, "soft");
  function show() {
    place.replaceChildren();
    const table = tables.find((one) => one.metric === state.metric);
    const list = table.rows.filter((row) => (!state.name || row.a === state.name || row.b === state.name) && (!state.differ || row.verdict === "better" || row.verdict === "worse"))
      .map((row) => (state.name ? row.b === state.name : row.difference * better(table.metric) < 0) && !table.baseline ? turned(row) : row);
    add(place, "p", table.said);
    const reach = Math.max(.05, ...list.flatMap((row) => [Math.abs(row.low ?? 0), Math.abs(row.high ?? 0), Math.abs(row.difference ?? 0)]));
    if (!list.length) { add(place, "p", "No such pair.", "soft"); return; }
    grid(place, `${table.metric}${table.less_is_better ? " (less is better)" : ""}: the first less the second, on the questions both have`, [
      { label: "first", head: true, value: (row) => row.a, cell: (row) => nameOf(row.a) },
      { label: "second", text: true, value: (row) => row.b, cell: (row) => nameOf(row.b) },
      { label: "difference", title: "with a 95 % interval; between its bounds where values are missing on one side", value: (row) => row.difference, cell: difference },
      { label: "p", title: "sign-flip test, after Holm's correction over all pairs of this metric", value: (row) => row.adjusted, show: chance, down: false },
      { label: "verdict", text: true, value: (row) => row.verdict, cell: verdict },
      { label: "won / tied / lost", value: (row) => row.wins - row.losses, cell: (row) => `${row.wins} / ${row.ties} / ${row.losses}` },
      { label: "questions", title: "questions that both have a value for, and those left out", value: (row) => row.n, cell: (row) => html`<span>${whole(row.n)}</span>${row.dropped ? html`<small>${row.dropped} left out</small>` : null}` },
      { label: "least effect", title: "a true difference below this would be missed more than 1 time in 5", value: (row) => row.effect, show: figure },
    ], list, { sort: 2, down: better(table.metric) > 0, most: 30 });
    function difference(row) {
      if (row.difference === null) return html`<span class="soft">–</span>`;
      const found = { mean: row.least < row.most ? (row.least + row.most) / 2 : row.difference, low: row.low, high: row.high };
      return html`<div class="scored"><${Whisker} found=${found} low=${-reach} high=${reach} width=${120} zero=${0} /><span class="value">${row.least < row.most ? `${signed(row.least)} to ${signed(row.most)}` : signed(row.difference)}</span></div>
        <small>${row.low === null ? "no interval" : `${signed(row.low)} to ${signed(row.high)}`}</small>`;
    }
  }
  show();
}
function verdict(row) {
  const sign = { better: "▲ ", worse: "▼ " }[row.verdict] ?? "", kind = { better: "right", worse: "wrong" }[row.verdict] ?? "soft";
  return html`<span class=${kind}>${sign}${row.verdict}</span>`;
}
// The same comparison, seen from the other side.
function turned(row) {
  const minus = (value) => known(value) ? -value : value;
  return { ...row, a: row.b, b: row.a, difference: minus(row.difference), low: minus(row.high), high: minus(row.low), least: minus(row.most), most: minus(row.least), wins: row.losses, losses: row.wins,
    verdict: { better: "worse", worse: "better" }[row.verdict] ?? row.verdict };
}
