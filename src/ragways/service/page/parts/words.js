// Figures of the service in words: money, time, sizes, dates.
import { amount, count, known } from "./figures.js";

export const dollars = (value) => !known(value) ? "price unknown" : value === 0 ? "$0" : value < .0001 ? "< $0.0001" : `$${amount(value)}`;
export const seconds = (value) => !known(value) ? "–" : value < 1 ? `${Math.round(value * 1000)} ms` : value < 120 ? `${amount(value)} s` : `${Math.round(value / 60)} min`;
export const size = (value) => !known(value) ? "–" : value < 1024 ? count(value, "byte") : value < 2 ** 20 ? `${amount(value / 1024)} KiB` : `${amount(value / 2 ** 20)} MiB`;
export const share = (value) => known(value) ? `${Math.round(value * 100)}\u00a0%` : "–";

export function when(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
}

// The cost of an answer in one line.
export function cost(usage, taken) {
  const tokens = (usage?.input ?? 0) + (usage?.output ?? 0);
  return [tokens ? count(tokens, "token") : "no tokens", tokens ? dollars(usage.usd) : "$0", seconds(taken)].join(" · ");
}
