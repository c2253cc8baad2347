// A router beside the fixed arms and simpler policies. Fixed arms are points; the line is the router as the price of cost grows.
if (!data.routing) by("routing").remove();  // it is there where it was asked for
function drawRouting() {
  if (data.routing) render(html`<${Routing} found=${data.routing} />`, add(by("routing"), "div"));
}
function Routing({ found }) {
  const policies = found.policies.filter((one) => !one.corpus), router = policies[0];
  const points = policies.filter((one) => found.arms.includes(one.policy) && known(one.cost))
    .map((one) => ({ name: one.policy, at: markOf(one.policy), quality: one.quality, cost: one.cost }));
  const line = found.curve.filter((one) => known(one.cost)).sort((a, b) => a.cost - b.cost), ring = known(router.cost) ? { name: "router", quality: router.quality, cost: router.cost } : null;
  return html`${Object.entries(found.words).map(([name, words]) => html`<p class=${name === "verdict" ? "" : "soft"}>${shown(name === "verdict" ? words : `${name}: ${words}`)}</p>`)}
    ${points.length ? html`<${QualityCost} points=${points} line=${line} ring=${ring} quality=${found.quality} cost=${found.cost} label=${`Plot of ${found.quality} against ${found.cost}: fixed arms, and the router over trades; the same as a table below`} />`
      : html`<p class="soft missing">Nothing is known of what the arms cost.</p>`}
    <p class="soft">Points are fixed arms, the dashed line is the router without its guard as the price of cost grows, the ring is the router at its own.</p>
    <${Grid} caption=${`${found.quality} and ${found.cost} of each policy`} rows=${policies} columns=${[
      { label: "policy", head: true, value: (one) => one.policy, cell: (one) => found.arms.includes(one.policy) ? nameOf(one.policy) : shown(one.policy) },
      { label: found.quality, value: (one) => one.quality, show: figure }, { label: found.cost, value: (one) => one.cost, show: amount, down: false },
      { label: "utility", value: (one) => one.utility, show: figure }, { label: "gain", title: `over always ${found.fixed}, in utility`, value: (one) => one.gain, show: signed },
      { label: "95 %", value: (one) => one.low, cell: (one) => `${signed(one.low)} to ${signed(one.high)}` },
      { label: "p", title: "by Holm for all policies together", value: (one) => one.p, show: chance, down: false }, { label: "regret", title: "what the corrected oracle has more", value: (one) => one.regret, show: figure, down: false },
    ]} />`;
}
