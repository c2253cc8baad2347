// Axes, and labels that do not lie upon each other.
function ticks(low, high, count) {
  const rough = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough * .999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-6; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}
// Costs differ by factors, so from a factor of 20 on the axis is logarithmic; 0 has a place of its own at its left.
function costAxis(values, left, right) {
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
const apart = (a, b) => a[0] > b[2] || a[2] < b[0] || a[1] > b[3] || a[3] < b[1];
// Places for labels near their points, the first ones first; those far off get a line that leads to them.
function placed(labels, points, frame) {
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
