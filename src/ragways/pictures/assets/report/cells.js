// Tables, and what their cells show: a value with its interval, how many were scored and how many not.
function grid(parent, caption, columns, rows, options = {}) {
  render(html`<${Grid} caption=${caption} columns=${columns} rows=${rows} ...${options} />`, add(parent, "div"));
}
const paradigm = () => ({ label: "paradigm", head: true, value: (row) => row.paradigm, cell: (row) => nameOf(row.paradigm) });
function Score({ found, metric, best, width }) {
  if (!found || found.mean === null || found.mean === undefined) {
    return html`<span class="soft">${found?.unscored ? "unscored" : "–"}</span>${found?.unscored ? html`<small title=${shown(found.why)}>0 of ${found.unscored}</small>` : null}`;
  }
  const range = !known(found.low) ? "no interval" : found.low < 0 ? `${fixed(found.low, 2)} to ${fixed(found.high, 2)}` : `${fixed(found.low, 2)}–${fixed(found.high, 2)}`;
  const notes = [found.unscored ? `unscored: ${found.why}` : "", known(found.median) ? `repeats: median ${figure(found.median)}, ${figure(found.minimum)} to ${figure(found.maximum)}` : ""].filter(Boolean);
  return html`<div class="scored"><${Whisker} found=${found} low=${least.get(metric)} high=${1} width=${width} />
      <span class=${best ? "value best" : "value"} aria-label=${best ? `${figure(found.mean)}, the best or not shown to differ from it` : undefined}>${best ? "▲ " : ""}${figure(found.mean)}</span></div>
    <small title=${notes.length ? shown(notes.join("; ")) : undefined}>${range} · n ${found.n}${found.unscored ? ` · ${found.unscored} unscored` : ""}</small>`;
}
