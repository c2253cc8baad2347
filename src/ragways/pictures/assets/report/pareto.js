// Quality against cost. On the front stand those that no other beats in both.
function front(points, sign) {
  for (const one of points) {
    one.by = points.filter((other) => other !== one && sign * other.quality >= sign * one.quality && other.cost <= one.cost && (other.quality !== one.quality || other.cost !== one.cost)).map((other) => other.name);
  }
  return points.filter((one) => !one.by.length).sort((a, b) => a.cost - b.cost);
}
function drawPareto() {
  const section = by("pareto"), kinds = Object.entries(data.costs);
  if (!kinds.length) { add(section, "p", "Left out: nothing is known of what the answers cost.", "soft missing"); return; }
  const bar = add(section, "div", undefined, "controls"), place = add(section, "div"), state = { metric: data.metrics[0].name, cost: kinds[0][0] };
  metricChoice(bar, state.metric, (value) => { state.metric = value; show(); }, "Quality", data.metrics.filter((one) => !one.advisory));
  choice(bar, "Cost", kinds.map(([name, said]) => [name, said]), state.cost, (value) => { state.cost = value; show(); });
  function show() {
    place.replaceChildren();
    const points = rows.map((row) => ({ name: row.paradigm, ...row.metrics[state.metric], quality: row.metrics[state.metric]?.mean, cost: row.cost[state.cost] }))
      .filter((one) => known(one.quality) && known(one.cost));
    if (!points.length) { add(place, "p", "No paradigm has both figures.", "soft"); return; }
    const best = front(points, better(state.metric));
    paint(add(place, "div", undefined, "frame plot"), points, best);
    const words = add(place, "p", "On the front (none is both better and cheaper): ");
    best.forEach((one, at) => { if (at) words.append(", "); add(words, "b", one.name); words.append(` (${figure(one.quality)} at ${amount(one.cost)})`); });
    add(place, "p", "The front is of means alone: whether two paradigms were shown to differ is not looked at here, so other questions may place others on it.", "soft");
    const rest = names.filter((name) => !points.some((one) => one.name === name));
    if (rest.length) add(place, "p", `Without a figure: ${rest.join(", ")}.`, "soft");
    const details = add(place, "details");
    add(details, "summary", "As a table");
    grid(details, `${state.metric} against ${data.costs[state.cost]}`, [
      { label: "paradigm", head: true, value: (one) => one.name, cell: (th, one) => named(th, one.name) }, { label: state.metric, value: (one) => one.quality, show: figure },
      { label: "questions scored", value: (one) => one.n }, { label: "unscored", value: (one) => one.unscored },
      { label: data.costs[state.cost], value: (one) => one.cost, show: amount, down: false },
      { label: "beaten in both by", text: true, value: (one) => one.by.join(", ") || "none: on the front" },
    ], points, { sort: 1, down: better(state.metric) > 0 });
  }
  function paint(frame, points, best) {
    const width = Math.max(340, frame.clientWidth - 2), height = Math.min(520, Math.max(360, width * .5)), left = 56, right = width - 18, top = 16, bottom = height - 46;
    const svg = picture(frame, width, height, `Plot of ${state.metric} against ${data.costs[state.cost]}; the same as a table below`);
    const lows = points.map((one) => one.low ?? one.quality), highs = points.map((one) => one.high ?? one.quality), pad = Math.max(.02, (Math.max(...highs) - Math.min(...lows)) * .06);
    const low = Math.max(least.get(state.metric), Math.min(...lows) - pad), high = Math.min(1.02, Math.max(...highs) + pad);
    const axis = costAxis(points.map((one) => one.cost), left, right), y = (value) => bottom - (value - low) / (high - low) * (bottom - top);
    for (const tick of ticks(low, high, 6)) {
      draw(svg, "line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }, "rule");
      write(svg, String(tick), { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, "soft");
    }
    for (const tick of axis.ticks) {
      draw(svg, "line", { x1: axis.x(tick), x2: axis.x(tick), y1: top, y2: bottom }, "rule");
      write(svg, amount(tick), { x: axis.x(tick), y: bottom + 17, "text-anchor": "middle" }, "soft");
    }
    write(svg, `${data.costs[state.cost]}${axis.log ? " (logarithmic)" : ""} →`, { x: right, y: height - 8, "text-anchor": "end" }, "soft");
    write(svg, `${state.metric}${better(state.metric) < 0 ? " (less is better)" : ""} ↑`, { x: left + 4, y: top - 3 }, "soft");
    const steps = best.map((one, at) => at ? `H${axis.x(one.cost).toFixed(1)}V${y(one.quality).toFixed(1)}` : `M${axis.x(one.cost).toFixed(1)},${y(one.quality).toFixed(1)}`).join("");
    draw(svg, "path", { d: `${steps}H${right}` }, "front");
    const spots = points.map((one) => ({ ...one, x: axis.x(one.cost), y: y(one.quality), text: one.name, first: !one.by.length })).sort((a, b) => b.first - a.first);
    const labels = placed(spots, spots, [2, top - 12, width - 2, bottom - 2]);
    for (const label of labels) if (label && label.far) draw(svg, "line", { x1: label.from[0], y1: label.from[1], x2: label.to[0], y2: label.to[1] }, "leader");
    for (const one of spots) if (known(one.low)) draw(svg, "line", { x1: one.x, x2: one.x, y1: y(one.low), y2: y(one.high) }, `interval ${colour(one.name)}`);
    spots.forEach((one, at) => {
      const dot = mark(svg, one.name, one.x, one.y, 5, one.first ? "" : "hollow");
      draw(dot, "title", {}).textContent = shown(`${one.name}: ${figure(one.quality)} (${known(one.low) ? `${one.low.toFixed(2)} to ${one.high.toFixed(2)}` : "no interval"}) at ${amount(one.cost)}`);
      if (labels[at]) write(svg, one.text, { x: labels[at].x, y: labels[at].y }, one.first ? "name strong" : "name");
    });
  }
  show();
  onResize(show);
}
