// A table that can be sorted by each of its columns.
// columns: {label, title, value(row): what it is sorted by, cell(td, row): what it shows, head: a name, text: left-aligned}
function grid(parent, caption, columns, list, { sort = -1, down = true, most = Infinity } = {}) {
  const frame = add(parent, "div", undefined, "frame"), table = add(frame, "table");
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", shown(caption));
  add(table, "caption", caption);
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  let all = false;
  const heads = columns.map((column, at) => {
    const th = add(head, "th", undefined, column.text || column.head ? "text" : "");
    th.scope = "col";
    const button = add(th, "button", column.label);
    if (column.title) button.title = shown(column.title);
    button.addEventListener("click", () => { down = sort === at ? !down : column.down ?? !(column.text || column.head); sort = at; fill(); });
    return th;
  });
  const more = add(parent, "button", "", "more");
  more.addEventListener("click", () => { all = true; fill(); });
  function fill() {
    heads.forEach((th, at) => th.setAttribute("aria-sort", at !== sort ? "none" : down ? "descending" : "ascending"));
    const ordered = sort < 0 ? list : [...list].sort((a, b) => order(columns[sort].value(a), columns[sort].value(b), down));
    const some = all ? ordered : ordered.slice(0, most);
    body.replaceChildren();
    for (const row of some) {
      const line = add(body, "tr");
      for (const column of columns) {
        const cell = add(line, column.head ? "th" : "td", undefined, column.text || column.head ? "text" : "");
        if (column.head) cell.scope = "row"; else cell.dataset.label = shown(column.label);
        if (column.cell) column.cell(cell, row); else cell.textContent = shown(column.show ? column.show(column.value(row)) : column.value(row));
      }
    }
    more.hidden = some.length === ordered.length;
    more.textContent = `Show all ${ordered.length.toLocaleString("en")}`;
    fitted(frame);
  }
  fill();
  onResize(() => fitted(frame));
  return { frame, table };
}
// No column is ever cut off: what is too wide is set tighter, and where that is not enough, each row becomes a card.
function fitted(frame) {
  frame.classList.remove("tight", "stacked");
  for (const name of ["tight", "stacked"]) if (frame.scrollWidth > frame.clientWidth) frame.classList.add(name);
}
// What has no value stands last, whichever way.
function order(a, b, down) {
  const none = (value) => value === null || value === undefined || Number.isNaN(value);
  if (none(a) || none(b)) return none(a) - none(b);
  const said = typeof a === "string" ? a.localeCompare(b) : a - b;
  return down ? -said : said;
}
// A value with its interval on a line from the least to the greatest possible.
function whisker(parent, found, low, high, width = 84, zero = null) {
  const svg = draw(parent, "svg", { width, height: 13, viewBox: `0 0 ${width} 13`, "aria-hidden": "true" }, "whisker");
  const x = (value) => 5 + (Math.max(low, Math.min(high, value)) - low) / (high - low || 1) * (width - 10);
  draw(svg, "line", { x1: 5, x2: width - 5, y1: 6.5, y2: 6.5 }, "base");
  for (const tick of zero === null ? [low, (low + high) / 2, high] : [zero]) draw(svg, "line", { x1: x(tick), x2: x(tick), y1: zero === null ? 4.5 : 0, y2: zero === null ? 8.5 : 13 }, "base");
  if (known(found.low) && known(found.high)) {
    draw(svg, "line", { x1: x(found.low), x2: x(found.high), y1: 6.5, y2: 6.5 }, "span");
    for (const end of [found.low, found.high]) draw(svg, "line", { x1: x(end), x2: x(end), y1: 3, y2: 10 }, "end");
  }
  draw(svg, "circle", { cx: x(found.mean), cy: 6.5, r: 3.6 }, "point");
  return svg;
}
// A cell: value, interval, how many were scored and how many not.
function score(td, found, metric, best, width) {
  if (!found || found.mean === null || found.mean === undefined) {
    add(td, "span", found && found.unscored ? "unscored" : "–", "soft");
    if (found && found.unscored) add(td, "small", `0 of ${found.unscored}`).title = shown(reasons(found.why));
    return;
  }
  const top = add(td, "div", undefined, "scored");
  whisker(top, found, least.get(metric), 1, width);
  const value = add(top, "span", (best ? "▲ " : "") + figure(found.mean), best ? "value best" : "value");
  if (best) value.setAttribute("aria-label", `${figure(found.mean)}, the best or not shown to differ from it`);
  const range = !known(found.low) ? "no interval" : found.low < 0 ? `${fixed(found.low, 2)} to ${fixed(found.high, 2)}` : `${fixed(found.low, 2)}–${fixed(found.high, 2)}`;
  const small = add(td, "small", `${range} · n ${found.n}${found.unscored ? ` · ${found.unscored} unscored` : ""}`);
  const notes = [found.unscored ? `unscored: ${reasons(found.why)}` : "", found.repeats ? `repeats: median ${figure(found.repeats.median)}, ${figure(found.repeats.minimum)} to ${figure(found.repeats.maximum)}` : ""];
  if (notes.some(Boolean)) small.title = shown(notes.filter(Boolean).join("; "));
}
const reasons = (why) => Object.entries(why || {}).map(([reason, count]) => `${reason || "no reason given"}: ${count}`).join("; ");
const paradigm = () => ({ label: "paradigm", head: true, value: (row) => row.paradigm, cell: (th, row) => named(th, row.paradigm) });
