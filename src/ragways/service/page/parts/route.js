// Which way auto took and why: what each way was expected to be worth and to cost.
import { html } from "./html.js";
import { amount, figure, shown, whole } from "./figures.js";
import { count } from "./figures.js";

const costs = { tokens: (value) => whole(value), usd: (value) => `$${amount(value)}`, seconds: (value) => `${amount(value)} s` };

export function Route({ route }) {
  if (!route) return null;
  const cost = costs[route.cost] ?? amount;
  const rows = [...route.estimates].sort((a, b) => Boolean(a.impossible) - Boolean(b.impossible) || b.utility - a.utility);
  return html`<details class="route">
    <summary>Took <strong>${shown(route.arm)}</strong>: ${shown(route.reason)}</summary>
    ${route.far && html`<p class="small">These documents are unlike those that the router knows, so its estimates are less sure.</p>`}
    <div class="frame" tabindex="0" role="region" aria-label="What each way would have cost"><table>
      <thead><tr><th scope="col">Way</th><th scope="col" class="number">Value</th><th scope="col" class="number">${route.cost === "usd" ? "Cost" : route.cost === "seconds" ? "Time" : "Tokens"}</th><th scope="col">Remarks</th></tr></thead>
      <tbody>${rows.map((one) => html`<tr key=${one.arm} class=${one.arm === route.arm ? "taken" : ""}>
        <th scope="row">${shown(one.arm)}</th><td class="number">${figure(one.value)}</td><td class="number">${cost(one.cost)}</td>
        <td>${one.arm === route.arm ? "taken" : one.impossible ? shown(one.impossible) : one.arm === route.fixed ? "best single way" : ""}</td>
      </tr>`)}</tbody>
    </table></div>
    ${route.weighed.length > 0 && html`<p class="small soft">What weighed most (${count(route.weighed.length, "sign")}): ${shown(route.weighed.map((one) => `${one.feature} ${one.weight > 0 ? "for" : "against"} it`).join(", "))}.</p>`}
  </details>`;
}
