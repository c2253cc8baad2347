// A table that can be sorted by each of its columns.
// columns: { label, title, value(row): what it is sorted by, cell(row): what is shown, or show(value), head: a name, text: left-aligned }
import { shown } from "./figures.js";
import { html, useLayoutEffect, useRef, useState } from "./html.js";

// What has no value stands last, whichever way.
export function order(a, b, down) {
  const none = (value) => value === null || value === undefined || Number.isNaN(value);
  if (none(a) || none(b)) return none(a) - none(b);
  const said = typeof a === "string" ? a.localeCompare(b) : a - b;
  return down ? -said : said;
}

// No column is ever cut off: what is too wide is set tighter, and where that is not enough, each row becomes a card.
function fitted(frame) {
  frame.classList.remove("tight", "stacked");
  for (const name of ["tight", "stacked"]) if (frame.scrollWidth > frame.clientWidth) frame.classList.add(name);
}

export function Grid({ caption, columns, rows, sort = -1, down = true, most = Infinity, wrap = false }) {
  const [by, turn] = useState({ sort, down }), [all, show] = useState(false), frame = useRef(null);
  useLayoutEffect(() => { fitted(frame.current); });
  useLayoutEffect(() => {
    let width = frame.current.clientWidth;
    const watching = new ResizeObserver(() => {
      if (frame.current.clientWidth !== width) fitted(frame.current);
      width = frame.current.clientWidth;
    });
    watching.observe(frame.current);
    return () => watching.disconnect();
  }, []);
  const left = (column) => column.text || column.head ? "text" : undefined;
  const ordered = by.sort < 0 ? rows : [...rows].sort((a, b) => order(columns[by.sort].value(a), columns[by.sort].value(b), by.down));
  const some = all ? ordered : ordered.slice(0, most);
  const press = (column, at) => turn({ sort: at, down: by.sort === at ? !by.down : column.down ?? !left(column) });
  const cell = (column, row) => column.cell ? column.cell(row) : shown((column.show ? column.show(column.value(row)) : column.value(row)) ?? "");
  return html`<div class="frame grid" ref=${frame} tabindex="0" role="region" aria-label=${shown(caption)}><table class=${wrap ? "wrap" : undefined}>
      <caption>${shown(caption)}</caption>
      <thead><tr>${columns.map((column, at) => html`<th scope="col" class=${left(column)} aria-sort=${at !== by.sort ? "none" : by.down ? "descending" : "ascending"}>
        <button type="button" title=${column.title ? shown(column.title) : undefined} onClick=${() => press(column, at)}>${shown(column.label)}</button></th>`)}</tr></thead>
      <tbody>${some.map((row) => html`<tr>${columns.map((column) => column.head ? html`<th scope="row" class="text">${cell(column, row)}</th>` : html`<td class=${left(column)} data-label=${shown(column.label)}>${cell(column, row)}</td>`)}</tr>`)}</tbody>
    </table></div>
    ${some.length < ordered.length && html`<button type="button" class="more" onClick=${() => show(true)}>Show all ${ordered.length.toLocaleString("en")}</button>`}`;
}

// A value with its interval on a line from the least to the greatest possible.
export function Whisker({ found, low, high, width = 84, zero = null }) {
  const x = (value) => 5 + (Math.max(low, Math.min(high, value)) - low) / (high - low || 1) * (width - 10);
  const span = typeof found.low === "number" && typeof found.high === "number";
  return html`<svg class="whisker" width=${width} height="13" viewBox=${`0 0 ${width} 13`} aria-hidden="true">
    <line class="base" x1="5" x2=${width - 5} y1="6.5" y2="6.5" />
    ${(zero === null ? [low, (low + high) / 2, high] : [zero]).map((tick) => html`<line class="base" x1=${x(tick)} x2=${x(tick)} y1=${zero === null ? 4.5 : 0} y2=${zero === null ? 8.5 : 13} />`)}
    ${span && html`<line class="span" x1=${x(found.low)} x2=${x(found.high)} y1="6.5" y2="6.5" />${[found.low, found.high].map((end) => html`<line class="end" x1=${x(end)} x2=${x(end)} y1="3" y2="10" />`)}`}
    <circle class="point" cx=${x(found.mean)} cy="6.5" r="3.6" />
  </svg>`;
}
