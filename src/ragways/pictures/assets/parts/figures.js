// How text and figures are written, here and on the pages of reports: nothing but exports that need nothing else.

// What would turn or hide a line is shown as a sign of its own.
export const shown = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

export const known = (value) => typeof value === "number" && Number.isFinite(value);
export const fixed = (value, digits) => value.toFixed(digits).replace("-", "−");
export const figure = (value) => known(value) ? fixed(value, 3) : "–";
export const signed = (value) => known(value) ? (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3) : "–";
export const whole = (value) => known(value) ? Math.round(value).toLocaleString("en") : "–";
export function amount(value) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(size >= 1 ? 3 : 2)));
}
export const bytes = (value) => known(value) ? `${amount(value / 2 ** 20)} MiB` : "–";
export const percent = (value) => known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value * 100).toFixed(0)}\u00a0%` : "–";
export const chance = (value) => !known(value) ? "–" : value < .001 ? "<0.001" : value.toFixed(3);
export const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
