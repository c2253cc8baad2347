// A router beside the fixed arms and simpler policies. Fixed arms are points; the line is the router as the price of cost grows.
if (!data.routing) by("routing").remove();  // it is there where it was asked for
function drawRouting() {
  if (data.routing) render(html`<${Routing} found=${data.routing} />`, add(by("routing"), "div"));
}
function Routing({ found }) {
  const router = found.policies[0].score, points = found.policies.filter((one) => found.arms.includes(one.name) && known(one.score.cost))
    .map((one) => ({ name: one.name, at: markOf(one.name), quality: one.score.quality, cost: one.score.cost }));
  const line = found.curve.filter((one) => known(one.cost)).sort((a, b) => a.cost - b.cost), ring = known(router.cost) ? { name: "router", quality: router.quality, cost: router.cost } : null;
  return html`${Object.entries(found.words).map(([name, words]) => html`<p class=${name === "verdict" ? "" : "soft"}>${shown(name === "verdict" ? words : `${name}: ${words}`)}</p>`)}
    ${points.length ? html`<${QualityCost} points=${points} line=${line} ring=${ring} quality=${found.quality} cost=${found.cost} label=${`Plot of ${found.quality} against ${found.cost}: fixed arms, and the router over trades; the same as a table below`} />`
      : html`<p class="soft missing">Nothing is known of what the arms cost.</p>`}
    <p class="soft">Points are fixed arms, the dashed line is the router without its guard as the price of cost grows, the ring is the router at its own.</p>
    <${Grid} caption=${`${found.quality} and ${found.cost} of each policy`} rows=${found.policies} columns=${[
      { label: "policy", head: true, value: (one) => one.name, cell: (one) => found.arms.includes(one.name) ? nameOf(one.name) : shown(one.name) },
      { label: found.quality, value: (one) => one.score.quality, show: figure }, { label: found.cost, value: (one) => one.score.cost, show: amount, down: false },
      { label: "utility", value: (one) => one.score.utility, show: figure }, { label: "gain", title: `over always ${found.fixed}, in utility`, value: (one) => one.score.gain, show: signed },
      { label: "95 %", value: (one) => one.score.low, cell: (one) => `${signed(one.score.low)} to ${signed(one.score.high)}` },
      { label: "p", title: "by Holm for all policies together", value: (one) => one.p, show: chance, down: false }, { label: "regret", title: "what the corrected oracle has more", value: (one) => one.regret, show: figure, down: false },
    ]} />`;
}
