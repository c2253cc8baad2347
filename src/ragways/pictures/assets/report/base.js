// Text of documents and models comes in through JSON and goes out through textContent alone.
const data = JSON.parse(document.getElementById("data").textContent);
// The tables of the report, by name
const rowsOf = (...kinds) => data.tables.filter((table) => kinds.includes(table.name)).flatMap((table) => table.rows);
const notesOf = (name) => data.tables.find((table) => table.name === name)?.notes ?? [];
const unique = (values) => [...new Set(values)];
const by = (id) => document.getElementById(id);
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
// What is compared
const allMetrics = rowsOf("metrics"), metrics = new Map(allMetrics.map((metric) => [metric.name, metric])), main = unique(rowsOf("figures").map((row) => row.metric));
const rows = rowsOf("costs").map((cost) => ({ ...cost, cost, metrics: {}, by_type: {} })), names = data.arms ?? rows.map((row) => row.paradigm), runs = rowsOf("runs"), best = {};
const rowOf = new Map(rows.map((row) => [row.paradigm, row]));
for (const found of rowsOf("figures", "other figures")) {
  const row = rowOf.get(found.paradigm);
  if (found.type) (row.by_type[found.type] ??= {})[found.metric] = found; else row.metrics[found.metric] = found;
  (best[found.metric] ??= []).push(...(found.best ? [found.paradigm] : []));
}
const types = unique(rows.flatMap((row) => Object.keys(row.by_type))).sort(), costKinds = Object.fromEntries(rowsOf("fronts").map((one) => [one.kind, one.cost]));
const place = new Map(names.map((name, at) => [name, at]));
const markOf = (name) => place.get(name) ?? names.length;
const colourOf = (name) => colour(markOf(name));
const nameOf = (name) => html`<${Named} at=${markOf(name)} name=${name} />`;
// Into what is made by hand: a part drawn at the end of an element.
const part_at = (parent, part) => render(part, parent.appendChild(document.createElement("span")));
const named = (parent, name) => part_at(parent, nameOf(name));

// Range of a metric: 0 to 1, or −1 to 1 where it can be negative.
const least = new Map(allMetrics.map(({ name }) => [name, rows.some((row) => row.metrics[name] && Math.min(row.metrics[name].low ?? 0, row.metrics[name].mean ?? 0) < 0) ? -1 : 0]));
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
function metricChoice(parent, chosen, change, label = "Metric", some = allMetrics) {
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
  const section = by(id), some = rowsOf(id).length > 0;
  if (!some) add(section, "p", notesOf(id)[0], "soft missing");
  return some ? section : null;
}
const redrawn = [];
function onResize(act) { redrawn.push(act); }
