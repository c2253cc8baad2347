// The table of all paradigms, and the same by type of question.
function drawFigures() {
  const section = by("figures"), families = unique(allMetrics.map((metric) => metric.family));
  const bar = add(section, "div", undefined, "controls"), place = add(section, "div");
  bar.setAttribute("role", "group");
  bar.setAttribute("aria-label", "Which metrics");
  const groups = [["main", main], ...families.map((family) => [family, allMetrics.filter((one) => one.family === family).map((one) => one.name)])];
  const buttons = groups.map(([name, chosen]) => {
    const button = add(bar, "button", name);
    button.addEventListener("click", () => show(name, chosen));
    return button;
  });
  function show(name, chosen) {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
    place.replaceChildren();
    const columns = [paradigm(), ...chosen.map((metric) => metricColumn(metric, (row) => row.metrics[metric], best[metric])),
      { label: "answers", title: "records of this paradigm, failed ones among them", value: (row) => row.answered + row.failed, show: whole },
      { label: "failed", title: "no answer came; not in any mean", value: (row) => row.failed, show: whole }];
    grid(place, `Figures of ${names.length} paradigms: ${name}`, columns, rows, { sort: 1, down: better(chosen[0]) > 0 });
    unscored(place, chosen, rows.map((row) => [row.paradigm, row.metrics, () => row.failed]), "paradigm", "metric");
  }
  show(...groups[0]);
}
function metricColumn(metric, of, best = [], width = undefined) {
  const about = metrics.get(metric);
  return {
    label: metric + (about.less_is_better ? " ↓" : ""), title: about.summary + (about.less_is_better ? " (less is better)" : ""), down: !about.less_is_better,
    value: (row) => of(row)?.mean ?? null, cell: (row) => html`<${Score} found=${of(row)} metric=${metric} best=${best.includes(row.paradigm)} width=${width} />`,
  };
}
function unscored(parent, chosen, list, head, of) {
  const lines = list.flatMap(([name, figures, failed]) => chosen.filter((metric) => figures[metric]?.unscored || failed(metric)).map((metric) => ({ name, metric, failed: failed(metric), ...figures[metric] })));
  if (!lines.length) { add(parent, "p", "Every answer was scored; none failed.", "soft"); return; }
  const details = add(parent, "details"), total = lines.reduce((sum, line) => sum + (line.unscored || 0), 0);
  add(details, "summary", `Scored, unscored and failed, with reasons (${total.toLocaleString("en")} unscored)`);
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    grid(details, "What was not scored, and why", [
      { label: head, head: true, value: (line) => line.name }, { label: of, text: true, value: (line) => line.metric },
      { label: "questions scored", value: (line) => line.n ?? 0 }, { label: "questions unscored", value: (line) => line.unscored_questions ?? 0 }, { label: "answers unscored", value: (line) => line.unscored ?? 0 },
      { label: "failed", value: (line) => line.failed }, { label: "why unscored", text: true, value: (line) => line.why || "–" },
    ], lines, { most: 60 });
  });
}
function drawTypes() {
  const section = by("types");
  if (!types.length) { add(section, "p", "Left out: the questions have no types.", "soft missing"); return; }
  const bar = add(section, "div", undefined, "controls"), place = add(section, "div");
  metricChoice(bar, allMetrics[0].name, show);
  const about = add(bar, "span", "", "soft");
  function show(metric) {
    place.replaceChildren();
    about.textContent = shown(metrics.get(metric).summary);
    const width = types.length > 5 ? 46 : 84, of = (found, label, best) => ({ ...metricColumn(metric, found, best, width), label });
    const columns = [paradigm(), of((row) => row.metrics[metric], "all", best[metric]), ...types.map((type) => of((row) => row.by_type[type]?.[metric], type))];
    grid(place, `${metric} by type of question`, columns, rows, { sort: 1, down: better(metric) > 0 });
    unscored(place, types, rows.map((row) => [row.paradigm, Object.fromEntries(types.map((type) => [type, row.by_type[type]?.[metric]])), (type) => Object.values(row.by_type[type] ?? {})[0]?.failed ?? 0]), "paradigm", "type");
  }
  show(allMetrics[0].name);
}
