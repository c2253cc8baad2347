// A router beside the fixed arms and simpler policies. Fixed arms are points; the line is the router as the price of cost grows.
if (!data.routing) by("routing").remove();  // it is there where it was asked for
function drawRouting() {
  const found = data.routing, section = by("routing");
  if (!found) return;
  const fixedArms = found.policies.filter((one) => found.arms.includes(one.name));
  for (const [name, line] of Object.entries(found.words)) add(section, "p", name === "verdict" ? line : `${name}: ${line}`, name === "verdict" ? "" : "soft");
  const place = add(section, "div", undefined, "frame plot");
  const paint = () => { place.replaceChildren(); paintRouting(place, found, fixedArms); };
  paint();
  onResize(paint);
  add(section, "p", "Points are fixed arms, the dashed line is the router without its guard as the price of cost grows, the ring is the router at its own.", "soft");
  grid(section, `${found.quality} and ${found.cost} of each policy`, [
    { label: "policy", head: true, value: (one) => one.name, cell: (th, one) => found.arms.includes(one.name) ? named(th, one.name) : th.append(shown(one.name)) },
    { label: found.quality, value: (one) => one.score.quality, show: figure }, { label: found.cost, value: (one) => one.score.cost, show: amount, down: false },
    { label: "utility", value: (one) => one.score.utility, show: figure }, { label: "gain", title: `over always ${found.fixed}, in utility`, value: (one) => one.score.gain, show: signed },
    { label: "95 %", value: (one) => one.score.low, cell: (td, one) => { td.textContent = `${signed(one.score.low)} to ${signed(one.score.high)}`; } },
    { label: "p", title: "by Holm for all policies together", value: (one) => one.p, show: chance, down: false }, { label: "regret", title: "what the corrected oracle has more", value: (one) => one.regret, show: figure, down: false },
  ], found.policies);
}
function paintRouting(frame, found, fixedArms) {
  const router = found.policies[0], curve = [...found.curve].sort((a, b) => a.cost - b.cost);
  const points = fixedArms.map((one) => ({ name: one.name, quality: one.score.quality, cost: one.score.cost })).filter((one) => known(one.cost));
  const all = [...points, ...curve, router.score].filter((one) => known(one.cost));
  if (!points.length) { add(frame, "p", "Nothing is known of what the arms cost.", "soft missing"); return; }
  const width = Math.max(340, frame.clientWidth - 2), height = Math.min(520, Math.max(340, width * .5)), left = 56, right = width - 18, top = 18, bottom = height - 46;
  const svg = picture(frame, width, height, `Plot of ${found.quality} against ${found.cost}: fixed arms, and the router over trades; the same as a table below`);
  const values = all.map((one) => one.quality), pad = Math.max(.01, (Math.max(...values) - Math.min(...values)) * .1), low = Math.max(0, Math.min(...values) - pad), high = Math.min(1.02, Math.max(...values) + pad);
  const axis = costAxis(all.map((one) => one.cost), left, right), y = (value) => bottom - (value - low) / (high - low) * (bottom - top);
  for (const tick of ticks(low, high, 6)) {
    draw(svg, "line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }, "rule");
    write(svg, String(tick), { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, "soft");
  }
  for (const tick of axis.ticks) {
    draw(svg, "line", { x1: axis.x(tick), x2: axis.x(tick), y1: top, y2: bottom }, "rule");
    write(svg, amount(tick), { x: axis.x(tick), y: bottom + 17, "text-anchor": "middle" }, "soft");
  }
  write(svg, `${found.cost}${axis.log ? " (logarithmic)" : ""} →`, { x: right, y: height - 8, "text-anchor": "end" }, "soft");
  write(svg, `${found.quality} ↑`, { x: left + 4, y: top - 5 }, "soft");
  if (curve.length) draw(svg, "path", { d: curve.map((one, at) => `${at ? "L" : "M"}${axis.x(one.cost).toFixed(1)},${y(one.quality).toFixed(1)}`).join("") }, "front");
  for (const one of points) mark(svg, one.name, axis.x(one.cost), y(one.quality), 5);
  if (known(router.score.cost)) points.push({ name: "router", quality: router.score.quality, cost: router.score.cost });
  if (known(router.score.cost)) draw(svg, "circle", { cx: axis.x(router.score.cost), cy: y(router.score.quality), r: 7 }, "ring");
  const labels = points.map((one) => ({ x: axis.x(one.cost), y: y(one.quality), text: one.name }));
  for (const one of placed(labels, labels, [left, 0, width, height - 20])) {
    if (!one) continue;
    if (one.far) draw(svg, "line", { x1: one.from[0], y1: one.from[1], x2: one.to[0], y2: one.to[1] }, "leader");
    write(svg, one.text, { x: one.x, y: one.y }, one.text === "router" ? "name strong" : "name");
  }
}
