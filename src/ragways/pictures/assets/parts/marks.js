// Paradigms are told apart by a colour and a shape: seven colours that the colour-blind can tell apart, times five shapes. As 7 and 5 share
// no factor, each pair comes once in 35. `at` is a paradigm's place among those that are compared.
import { shown } from "./figures.js";
import { html } from "./html.js";

export const colour = (at) => `c${at % 7}`;
const SHAPES = [
  [[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]], [[0, -1.2], [1.15, .85], [-1.15, .85]], [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  [[0, 1.2], [1.15, -.85], [-1.15, -.85]],
];

export function Mark({ at, x, y, r, hollow = false, children }) {
  const name = `mark ${colour(at)}${hollow ? " hollow" : ""}`;
  if (at % 5 === 0) return html`<circle class=${name} cx=${x.toFixed(1)} cy=${y.toFixed(1)} r=${r}>${children}</circle>`;
  const points = SHAPES[at % 5 - 1].map(([dx, dy]) => `${(x + dx * r).toFixed(1)},${(y + dy * r).toFixed(1)}`).join(" ");
  return html`<polygon class=${name} points=${points}>${children}</polygon>`;
}

// A paradigm's mark and its name.
export function Named({ at, name }) {
  const long = name.length > 48;
  return html`<span class="named" title=${long ? shown(name) : undefined}><svg class="key" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><${Mark} at=${at} x=${6} y=${6} r=${4.2} /></svg>${shown(long ? `${name.slice(0, 47)}…` : name)}</span>`;
}
