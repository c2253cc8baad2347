"use strict";
// Text of documents and models comes in through JSON and goes out through textContent alone.
const data = JSON.parse(document.getElementById("data").textContent);
const by = (id) => document.getElementById(id);
// What would turn or hide a line is shown as a sign of its own.
const shown = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
function add(parent, tag, text, name) {
  const element = parent.appendChild(document.createElement(tag));
  if (text !== undefined && text !== null) element.textContent = shown(text);
  if (name) element.className = name;
  return element;
}
function draw(parent, tag, values, name) {
  const element = parent.appendChild(document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const key in values) element.setAttribute(key, typeof values[key] === "number" ? Math.round(values[key] * 100) / 100 : values[key]);
  if (name) element.setAttribute("class", name);
  return element;
}
function write(parent, text, values, name) {
  const element = draw(parent, "text", values, name);
  element.textContent = shown(text);
  return element;
}
function picture(parent, width, height, label) {
  const svg = draw(parent, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img" });
  svg.setAttribute("aria-label", shown(label));
  return svg;
}
const letters = document.createElement("canvas").getContext("2d");
function wide(text, size = 12) { letters.font = `${size}px system-ui, -apple-system, "Segoe UI", sans-serif`; return letters.measureText(shown(text)).width * 1.05; }

// Figures
const known = (value) => typeof value === "number" && Number.isFinite(value);
const fixed = (value, digits) => value.toFixed(digits).replace("-", "−");
const figure = (value) => known(value) ? fixed(value, 3) : "–";
const signed = (value) => known(value) ? (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3) : "–";
const whole = (value) => known(value) ? Math.round(value).toLocaleString("en") : "–";
function amount(value) {
  if (!known(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(size >= 1 ? 3 : 2)));
}
const bytes = (value) => known(value) ? `${amount(value / 2 ** 20)} MiB` : "–";
const percent = (value) => known(value) ? `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value * 100).toFixed(0)}\u00a0%` : "–";
const chance = (value) => !known(value) ? "–" : value < .001 ? "<0.001" : value.toFixed(3);

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// What is compared
const metrics = new Map(data.metrics.map((metric) => [metric.name, metric]));
const rows = data.rows, names = data.paradigms;
const place = new Map(names.map((name, at) => [name, at]));
// Seven colours that the colour-blind can tell apart, times five shapes: as 7 and 5 share no factor, each pair comes once in 35.
const colour = (name) => `c${(place.get(name) ?? names.length) % 7}`;
const shape = (name) => (place.get(name) ?? names.length) % 5;
function mark(parent, name, x, y, r, extra = "") {
  const kind = shape(name), style = `mark ${colour(name)} ${extra}`;
  if (kind === 0) return draw(parent, "circle", { cx: x, cy: y, r }, style);
  const points = [
    [[-.9, -.9], [.9, -.9], [.9, .9], [-.9, .9]], [[0, -1.2], [1.15, .85], [-1.15, .85]], [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
    [[0, 1.2], [1.15, -.85], [-1.15, -.85]],
  ][kind - 1];
  return draw(parent, "polygon", { points: points.map(([dx, dy]) => `${(x + dx * r).toFixed(1)},${(y + dy * r).toFixed(1)}`).join(" ") }, style);
}
function key(parent, name) {
  const svg = draw(parent, "svg", { width: 12, height: 12, viewBox: "0 0 12 12", "aria-hidden": "true" }, "key");
  mark(svg, name, 6, 6, 4.2);
}
function named(parent, name) {
  key(parent, name);
  parent.append(shown(name.length > 48 ? `${name.slice(0, 47)}…` : name));
  if (name.length > 48) parent.title = shown(name);
}

// Range of a metric: 0 to 1, or −1 to 1 where it can be negative.
const least = new Map(data.metrics.map(({ name }) => [name, rows.some((row) => row.metrics[name] && Math.min(row.metrics[name].low ?? 0, row.metrics[name].mean ?? 0) < 0) ? -1 : 0]));
const better = (name) => metrics.get(name)?.less_is_better ? -1 : 1;

// Controls
function choice(parent, label, options, chosen, change) {
  const box = add(parent, "label", `${label} `), select = add(box, "select");
  for (const option of options) {
    const [value, said] = Array.isArray(option) ? option : [option, option];
    const one = add(select, "option", said);
    one.value = value;
    one.selected = value === chosen;
  }
  select.addEventListener("change", () => change(select.value));
  return select;
}
function metricChoice(parent, chosen, change, label = "Metric", some = data.metrics) {
  const box = add(parent, "label", `${label} `), select = add(box, "select");
  const families = [...new Set(some.map((metric) => metric.family))];
  for (const family of families) {
    const group = add(select, "optgroup");
    group.label = family;
    for (const metric of some.filter((one) => one.family === family)) {
      const one = add(group, "option", metric.name + (metric.less_is_better ? " (less is better)" : ""));
      one.value = metric.name;
      one.selected = metric.name === chosen;
      one.title = metric.summary;
    }
  }
  select.addEventListener("change", () => change(select.value));
  return select;
}
function part(id) {
  const section = by(id), why = data.missing[id];
  if (why) add(section, "p", `Left out: ${why}.`, "soft missing");
  return why ? null : section;
}
const redrawn = [];
function onResize(act) { redrawn.push(act); }
