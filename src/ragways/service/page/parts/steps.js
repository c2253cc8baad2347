// The steps of a trace as they happen, and the whole tree when they have.
import { html } from "./html.js";
import { count, shown } from "./figures.js";
import { dollars, seconds } from "./words.js";

// One event of a stream put to those before: a step begins, or the one that began last under this name and depth ends.
export function stepped(steps, event) {
  if (event.event === "begin") return [...steps, { name: event.name, depth: event.depth, running: true }];
  const at = steps.findLastIndex((one) => one.running && one.name === event.name && one.depth === event.depth);
  if (at < 0) return steps;
  const ended = { ...steps[at], ...event, running: false };
  return steps.with(at, ended);
}

// A finished trace in the same rows.
export function flattened(steps, depth = 0) {
  return steps.flatMap((step) => [
    { ...step, depth, tokens: (step.usage?.input ?? 0) + (step.usage?.output ?? 0), usd: step.usage?.usd, running: false }, ...flattened(step.steps ?? [], depth + 1),
  ]);
}

export function Steps({ steps }) {
  const least = Math.min(...steps.map((one) => one.depth));
  return html`<ol class="steps plain">${steps.map((one, at) => html`<li key=${at} class=${`d${Math.min(one.depth - least, 6)} ${one.running ? "running" : ""}`}>
    <span class="name">${shown(one.name)}</span>
    <span class="soft">${one.running ? "…" : seconds(one.seconds)}</span>
    ${one.way && html`<span class="tag">${shown(one.way)}</span>`}
    ${one.tokens > 0 && html`<span class="soft">${count(one.tokens, "token")}${one.usd === 0 ? "" : `, ${dollars(one.usd)}`}</span>`}
    ${one.error && html`<span class="tag bad">${shown(one.error)}</span>`}
    ${one.output && html`<span class="output soft">${shown(one.output)}</span>`}
  </li>`)}</ol>`;
}
