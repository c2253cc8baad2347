// Quality against cost as a picture: axes, marks, labels that do not lie upon each other, and the front or a curve.
import { amount, figure, fixed, known, shown } from "./figures.js";
import { html, useLayoutEffect, useRef, useState } from "./html.js";
import { colour, Mark } from "./marks.js";

export function ticks(low, high, count) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough * .999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-6; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}

// Costs differ by factors, so from a factor of 20 on the axis is logarithmic; 0 has a place of its own at its left.
export function costAxis(values, left, right) {
  const some = values.filter((value) => value > 0), low = Math.min(...some), high = Math.max(...some);
  if (!some.length || high / low < 20) {
    const most = (high > 0 ? high : 1) * 1.08;
    return { log: false, x: (value) => left + value / most * (right - left), ticks: ticks(0, most, 6) };
  }
  const from = Math.log10(low) - .1, to = Math.log10(high) + .1, start = values.some((value) => value <= 0) ? left + 46 : left;
  const x = (value) => value <= 0 ? left + 14 : start + (Math.log10(value) - from) / (to - from) * (right - start);
  const marks = start > left ? [0] : [];
  for (let power = Math.floor(from); power <= Math.ceil(to); power++) {
    for (const times of to - from < 1.6 ? [1, 2, 5] : [1]) {
      const value = times * 10 ** power, at = Math.log10(value);
      if (at >= from && at <= to) marks.push(Number(value.toPrecision(6)));
    }
  }
  return { log: true, x, ticks: marks };
}

let letters = null;
export function wide(text, size = 12) {
  letters ??= document.createElement("canvas").getContext("2d");
  letters.font = `${size}px system-ui, -apple-system, "Segoe UI", sans-serif`;
  return letters.measureText(shown(text)).width * 1.05;
}

const apart = (a, b) => a[0] > b[2] || a[2] < b[0] || a[1] > b[3] || a[3] < b[1];
// Places for labels near their points, the first ones first; those far off get a line that leads to them.
export function placed(labels, points, frame) {
  const taken = points.map(({ x, y }) => [x - 6, y - 6, x + 6, y + 6]);
  return labels.map(({ x, y, text }) => {
    const width = wide(text, 12), height = 14;
    for (let reach = 9; reach <= 210; reach += 8) {
      for (const angle of reach < 14 ? [0, 180, 270, 90] : [0, 180, 315, 45, 225, 135, 290, 70, 250, 110, 340, 20, 200, 160, 270, 90]) {
        const way = angle * Math.PI / 180, dx = Math.cos(way) * reach, dy = Math.sin(way) * reach;
        const left = Math.abs(dx) < 3 ? x - width / 2 : dx > 0 ? x + dx : x + dx - width, top = y + dy - height / 2;
        const box = [left - 2, top - 1, left + width + 2, top + height + 1];
        const inside = box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3];
        if (!inside || !taken.every((other) => apart(box, other))) continue;
        taken.push(box);
        return { x: left, y: top + height - 3, from: [x, y], to: [dx > 0 ? left - 1 : Math.abs(dx) < 3 ? x : left + width + 1, Math.abs(dx) < 3 ? (dy > 0 ? top : top + height) : top + height / 2], far: reach > 18, text };
      }
    }
    return null;
  });
}

// On the front stand those that no other beats in both: `by` are the names of those that beat a point. `sign` is -1 where less is better.
export function front(points, sign = 1) {
  const judged = points.map((one) => ({
    ...one, by: points.filter((other) => other !== one && sign * other.quality >= sign * one.quality && other.cost <= one.cost && (other.quality !== one.quality || other.cost !== one.cost)).map((other) => other.name),
  }));
  return { points: judged, best: judged.filter((one) => !one.by.length).sort((a, b) => a.cost - b.cost) };
}

// The width that an element has, followed as it changes.
export function useWidth() {
  const box = useRef(null), [width, set] = useState(0);
  useLayoutEffect(() => {
    const measure = () => set(box.current.clientWidth);
    const watching = new ResizeObserver(measure);
    measure();
    watching.observe(box.current);
    return () => watching.disconnect();
  }, []);
  return [box, width];
}

// points: [{ name, at, quality, cost, low, high, hollow, strong }]; line: [{ quality, cost }], by steps where `steps`; ring: a point.
export function QualityCost({ points, line = [], steps = false, ring = null, quality, cost, least = 0, less = false, label }) {
  const [box, measured] = useWidth();
  return html`<div class="frame plot" ref=${box}>${measured > 0 && html`<${Drawn} ...${{ points, line, steps, ring, quality, cost, least, less, label, width: Math.max(340, measured - 2) }} />`}</div>`;
}

function Drawn({ points, line, steps, ring, quality, cost, least, less, label, width }) {
  const height = Math.min(520, Math.max(350, width * .5)), left = 56, right = width - 18, top = 18, bottom = height - 46;
  const all = [...points, ...line, ...(ring ? [ring] : [])], lows = all.map((one) => one.low ?? one.quality), highs = all.map((one) => one.high ?? one.quality);
  const pad = Math.max(.02, (Math.max(...highs) - Math.min(...lows)) * .06), low = Math.max(least, Math.min(...lows) - pad), high = Math.min(1.02, Math.max(...highs) + pad);
  const axis = costAxis(all.map((one) => one.cost), left, right), y = (value) => bottom - (value - low) / (high - low) * (bottom - top);
  const at = (one) => `${axis.x(one.cost).toFixed(1)},${y(one.quality).toFixed(1)}`;
  const path = steps ? line.map((one, n) => n ? `H${axis.x(one.cost).toFixed(1)}V${y(one.quality).toFixed(1)}` : `M${at(one)}`).join("") + `H${right}` : line.map((one, n) => `${n ? "L" : "M"}${at(one)}`).join("");
  const spots = [...points].sort((a, b) => Boolean(b.strong) - Boolean(a.strong)).map((one) => ({ ...one, x: axis.x(one.cost), y: y(one.quality), text: one.name }));
  const ringed = ring && { x: axis.x(ring.cost), y: y(ring.quality), text: ring.name, strong: true };
  const named = ringed && !points.some((one) => one.name === ring.name) ? [...spots, ringed] : spots;
  const labels = placed(named, named, [2, top - 12, width - 2, bottom - 2]);
  const told = (one) => `${one.name}: ${figure(one.quality)} (${known(one.low) ? `${fixed(one.low, 2)} to ${fixed(one.high, 2)}` : "no interval"}) at ${amount(one.cost)}`;
  return html`<svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="img" aria-label=${shown(label)}>
    ${ticks(low, high, 6).map((tick) => html`<line class="rule" x1=${left} x2=${right} y1=${y(tick)} y2=${y(tick)} /><text class="soft" x=${left - 8} y=${y(tick) + 4} text-anchor="end">${tick}</text>`)}
    ${axis.ticks.map((tick) => html`<line class="rule" x1=${axis.x(tick)} x2=${axis.x(tick)} y1=${top} y2=${bottom} /><text class="soft" x=${axis.x(tick)} y=${bottom + 17} text-anchor="middle">${amount(tick)}</text>`)}
    <text class="soft" x=${right} y=${height - 8} text-anchor="end">${shown(cost)}${axis.log ? " (logarithmic)" : ""} →</text>
    <text class="soft" x=${left + 4} y=${top - 5}>${shown(quality)}${less ? " (less is better)" : ""} ↑</text>
    ${line.length > 0 && html`<path class="front" d=${path} />`}
    ${labels.map((one) => one?.far && html`<line class="leader" x1=${one.from[0]} y1=${one.from[1]} x2=${one.to[0]} y2=${one.to[1]} />`)}
    ${spots.map((one) => known(one.low) && html`<line class=${`interval ${colour(one.at)}`} x1=${one.x} x2=${one.x} y1=${y(one.low)} y2=${y(one.high)} />`)}
    ${spots.map((one) => html`<${Mark} at=${one.at} x=${one.x} y=${one.y} r=${5} hollow=${one.hollow}><title>${shown(told(one))}</title><//>`)}
    ${ringed && html`<circle class="ring" cx=${ringed.x} cy=${ringed.y} r="9" />`}
    ${named.map((one, n) => labels[n] && html`<text class=${one.strong ? "name strong" : "name"} x=${labels[n].x} y=${labels[n].y}>${shown(one.text)}</text>`)}
  </svg>`;
}
