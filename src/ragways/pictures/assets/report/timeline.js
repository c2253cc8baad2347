// CPU and memory while each paradigm was at work.
function drawTimeline() {
  const section = part("timeline");
  if (!section) return;
  const lines = unique(rowsOf("timeline").map((point) => point.run)).map((run) => {
    const points = rowsOf("timeline").filter((point) => point.run === run).map((one) => [one.seconds, one.paradigm, one.cores, one.memory]);
    return { run, points, seconds: points.at(-1)[0], by_paradigm: rowsOf("load").filter((one) => one.run === run) };
  });
  for (const line of lines) {
    const place = add(section, "div");
    if (lines.length > 1) add(place, "h3", line.run);
    const legend = add(place, "div", undefined, "legend"), frame = add(place, "div", undefined, "frame plot"), readout = add(place, "p", "", "soft readout");
    readout.setAttribute("role", "status");
    let only = "";
    const seen = [...new Set(line.points.map((point) => point[1]))].filter((name) => place_of(name));
    legend.setAttribute("role", "group");
    legend.setAttribute("aria-label", "Show one paradigm");
    for (const name of seen) {
      const button = add(legend, "button");
      named(button, name);
      button.setAttribute("aria-pressed", "false");
      button.addEventListener("click", () => {
        only = only === name ? "" : name;
        for (const other of legend.children) other.setAttribute("aria-pressed", String(other === button && Boolean(only)));
        paint();
      });
    }
    function paint() {
      frame.replaceChildren();
      curves(frame, line, only, (text) => { readout.textContent = shown(text); });
      const mine = only && line.by_paradigm.find((one) => one.paradigm === only);
      readout.textContent = mine ? shown(`${only}: ${amount(mine.seconds)} s, ${amount(mine.cores)} cores on average, ${bytes(mine.memory)} at most`) : "Point at the picture, or choose a paradigm.";
    }
    paint();
    onResize(paint);
    const details = add(place, "details");
    add(details, "summary", "As a table");
    grid(details, "CPU and memory by paradigm", [
      { label: "at work", head: true, value: (one) => one.paradigm, cell: (one) => place_of(one.paradigm) ? nameOf(one.paradigm) : "opening and warming up" },
      { label: "seconds", value: (one) => one.seconds, show: amount }, { label: "CPU seconds", value: (one) => one.cpu, show: amount },
      { label: "cores on average", value: (one) => one.cores, show: amount }, { label: "most memory", value: (one) => one.memory, show: bytes },
    ], line.by_paradigm);
  }
}
const place_of = (name) => name && place.has(name);
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
const clock_ticks = (most, count) => { const step = STEPS.find((one) => most / one <= count) ?? 86400 * Math.ceil(most / 86400 / count); return Array.from({ length: Math.floor(most / step) + 1 }, (_, at) => at * step); };
const clock = (seconds) => seconds >= 7200 ? `${amount(seconds / 3600)} h` : seconds >= 60 ? `${amount(seconds / 60)} min` : `${amount(seconds)} s`;
function curves(frame, line, only, tell) {
  const width = Math.max(340, frame.clientWidth - 2), left = 58, right = width - 14, each = 110, gap = 40, top = 26, height = top + 2 * each + gap + 34;
  const svg = picture(frame, width, height, "CPU and memory over the time of the run; the same as a table below");
  const x = (at) => left + at / line.seconds * (right - left);
  const panels = [["CPU, in cores", 2, (value) => value, amount], ["memory, in MiB", 3, (value) => value / 2 ** 20, amount]];
  // Bands: who was at work.
  let from = 0;
  const bands = [];
  for (const [at, name] of line.points) {
    const last = bands[bands.length - 1];
    if (last && last.name === name) last.to = at; else bands.push({ name, from, to: at });
    from = at;
  }
  for (const band of bands) {
    if (!place_of(band.name)) continue;
    const group = draw(svg, "g", {}, `band ${colourOf(band.name)}${only && band.name !== only ? " faint" : ""}`);
    draw(group, "rect", { x: x(band.from), y: top - 6, width: Math.max(.5, x(band.to) - x(band.from)), height: height - top - 22 });
    if (wide(band.name, 11) < x(band.to) - x(band.from) - 4) write(group, band.name, { x: (x(band.from) + x(band.to)) / 2, y: top - 11, "text-anchor": "middle" });
  }
  panels.forEach(([title, column, scaled, said], number) => {
    const base = top + each + number * (each + gap), most = Math.max(...line.points.map((point) => scaled(point[column]))) * 1.12 || 1;
    const y = (value) => base - value / most * (each - 12);
    for (const tick of ticks(0, most, 3)) {
      draw(svg, "line", { x1: left, x2: right, y1: y(tick), y2: y(tick) }, "rule");
      write(svg, said(tick), { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, "soft");
    }
    write(svg, title, { x: left + 4, y: base - each + 8 }, "soft");
    for (const band of bands) {
      const some = line.points.filter(([at]) => at > band.from && at <= band.to);
      let before = band.from;
      const path = some.map(([at, , ...rest], place) => { const h = y(scaled(rest[column - 2])).toFixed(1), d = `${place ? "V" : `M${x(before).toFixed(1)},`}${h}H${x(at).toFixed(1)}`; before = at; return d; }).join("");
      draw(svg, "path", { d: path }, `curve ${colourOf(band.name)}${only && band.name !== only ? " faint" : ""}`);
    }
  });
  for (const tick of clock_ticks(line.seconds, Math.min(10, (right - left) / 64))) write(svg, clock(tick), { x: x(tick), y: height - 10, "text-anchor": tick ? "middle" : "start" }, "soft");
  const ruler = draw(svg, "line", { x1: -9, x2: -9, y1: top - 6, y2: height - 28 }, "ruler");
  svg.addEventListener("pointermove", (event) => {
    const at = (event.clientX - svg.getBoundingClientRect().left - left) / (right - left) * line.seconds;
    const point = line.points.find((one) => one[0] >= at);
    if (!point || at < 0) return;
    ruler.setAttribute("x1", x(at)); ruler.setAttribute("x2", x(at));
    tell(`${clock(at)}: ${point[1] || "opening and warming up"}, ${amount(point[2])} cores, ${bytes(point[3])}`);
  });
}
