// Quality against cost, by the metric and the cost that are chosen.
function drawPareto() {
  const section = by("pareto"), kinds = Object.entries(costKinds);
  if (!kinds.length) { add(section, "p", "Left out: nothing is known of what the answers cost.", "soft missing"); return; }
  const some = allMetrics.filter((one) => !one.advisory), state = { metric: some[0].name, cost: kinds[0][0] };
  const bar = add(section, "div", undefined, "controls"), place = add(section, "div");
  metricChoice(bar, state.metric, (value) => { state.metric = value; show(); }, "Quality", some);
  choice(bar, "Cost", kinds, state.cost, (value) => { state.cost = value; show(); });
  const show = () => render(html`<${Pareto} key=${`${state.metric} ${state.cost}`} ...${state} />`, place);
  show();
}
function Pareto({ metric, cost }) {
  const found = rows.map((row) => ({ name: row.paradigm, at: markOf(row.paradigm), ...row.metrics[metric], quality: row.metrics[metric]?.mean, cost: row.cost[cost] })).filter((one) => known(one.quality) && known(one.cost));
  if (!found.length) return html`<p class="soft">No paradigm has both figures.</p>`;
  const { points, best } = front(found, better(metric)), rest = names.filter((name) => !points.some((one) => one.name === name));
  return html`<${QualityCost} points=${points.map((one) => ({ ...one, strong: !one.by.length, hollow: one.by.length > 0 }))} line=${best} steps quality=${metric} cost=${costKinds[cost]} least=${least.get(metric)}
      less=${better(metric) < 0} label=${`Plot of ${metric} against ${costKinds[cost]}; the same as a table below`} />
    <p>On the front (none is both better and cheaper): ${best.map((one, at) => html`${at ? ", " : ""}<b>${shown(one.name)}</b> (${figure(one.quality)} at ${amount(one.cost)})`)}</p>
    <p class="soft">The front is of means alone: whether two paradigms were shown to differ is not looked at here, so other questions may place others on it.</p>
    ${rest.length > 0 && html`<p class="soft">Without a figure: ${shown(rest.join(", "))}.</p>`}
    <details><summary>As a table</summary><${Grid} caption=${`${metric} against ${costKinds[cost]}`} rows=${points} sort=${1} down=${better(metric) > 0} columns=${[
      { label: "paradigm", head: true, value: (one) => one.name, cell: (one) => nameOf(one.name) }, { label: metric, value: (one) => one.quality, show: figure },
      { label: "questions scored", value: (one) => one.n }, { label: "unscored", value: (one) => one.unscored },
      { label: costKinds[cost], value: (one) => one.cost, show: amount, down: false }, { label: "beaten in both by", text: true, value: (one) => one.by.join(", ") || "none: on the front" },
    ]} /></details>`;
}
