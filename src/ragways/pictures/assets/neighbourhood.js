"use strict";
// Text of documents comes in through JSON and goes out through textContent alone.
const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = ["person", "place", "organization", "work", "vehicle", "event", "species", "term", "date", "quantity"];
const by = (id) => document.getElementById(id);
const svg = by("picture"), view = by("view"), panel = by("panel"), search = by("search");

// What is drawn: nodes, and one line for all relations of a pair.
const nodes = data.nodes.map((node, place) => ({ ...node, place, kind: KINDS.includes(node.kind) ? node.kind : "other", lines: [], fixed: false }));
const numbers = new Map(nodes.map((node) => [node.id, node]));
const pairs = new Map();
for (const edge of data.edges) {
  const key = [edge.source, edge.target].sort().join(" ");
  if (!pairs.has(key)) pairs.set(key, { from: numbers.get(edge.source), to: numbers.get(edge.target), edges: [], weight: 0 });
  const pair = pairs.get(key);
  pair.edges.push(edge);
  pair.weight += edge.weight;
}
const lines = [...pairs.values()].filter((line) => line.from && line.to && line.from !== line.to);
for (const line of lines) { line.from.lines.push(line); line.to.lines.push(line); }
for (const node of nodes) node.size = (node.place ? 4.5 : 9) + Math.min(8, 1.7 * Math.sqrt(node.lines.length));

// What is on the picture: the centre and the strongest around it, of the kinds that are not switched off, and whoever was looked up.
const FIRST = 60;
const off = new Set(), called = new Set();
let most = Math.min(FIRST, nodes.length - 1), active = [], joined = [];
function choice() {
  const [centre, ...others] = nodes, open = others.filter((node) => !off.has(node.kind));
  const strong = new Set(open.slice(0, most));
  active = [centre, ...others.filter((node) => strong.has(node) || called.has(node))];
  const here = new Set(active);
  joined = lines.filter((line) => here.has(line.from) && here.has(line.to));
  for (const node of active) node.near = joined.filter((line) => line.from === node || line.to === node).length;
  return { here, open: open.length };
}

// Layout: springs along lines, everything else pushes, and a weak pull inwards. From rings, so that it comes out the same each time.
let spacing = 62;
function layout() {
  spacing = active.length > 120 ? 46 : 62;
  active.forEach((node, place) => {
    const angle = place * 2.399963, reach = node.hop * 90 + Math.sqrt(place) * 14;
    node.x = Math.cos(angle) * reach; node.y = Math.sin(angle) * reach; node.dx = 0; node.dy = 0; node.fixed = false;
  });
  for (let heat = 1; heat > .02; heat *= .985) step(heat);
}
function step(heat) {
  for (let i = 0; i < active.length; i++) {
    const a = active[i];
    for (let j = i + 1; j < active.length; j++) {
      const b = active[j], x = a.x - b.x, y = a.y - b.y, far = Math.max(x * x + y * y, 25);
      if (far > 360000) continue;
      const push = 3.3 * spacing / far * heat;
      a.dx += x * push; a.dy += y * push; b.dx -= x * push; b.dy -= y * push;
    }
    const pull = .012 * heat;
    a.dx -= a.x * pull; a.dy -= a.y * pull * 1.25;
  }
  for (const { from, to } of joined) {
    const x = to.x - from.x, y = to.y - from.y, far = Math.hypot(x, y) || 1;
    const busy = Math.min(from.near, to.near);
    const force = (far - spacing - from.size - to.size) / far * heat * .45 / Math.max(1, busy);
    const share = from.near / (from.near + to.near);
    from.dx += x * force * (1 - share); from.dy += y * force * (1 - share);
    to.dx -= x * force * share; to.dy -= y * force * share;
  }
  for (const node of active) {
    if (node.fixed) { node.dx = node.dy = 0; continue; }
    node.dx *= .55; node.dy *= .55;
    const fast = Math.hypot(node.dx, node.dy), slow = fast > 30 ? 30 / fast : 1;
    node.x += node.dx * slow; node.y += node.dy * slow;
  }
}

// Drawing
const make = (tag, parent, name) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  if (name) element.setAttribute("class", name);
  return parent.appendChild(element);
};
const set = (element, values) => { for (const key in values) element.setAttribute(key, values[key]); };
const short = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
for (const line of lines) {
  line.mark = make("line", by("lines"), "line");
  line.mark.setAttribute("stroke-width", (.8 + Math.min(3, .7 * Math.log1p(line.weight))).toFixed(2));
  line.reach = make("line", by("lines"), "reach");
  line.reach.addEventListener("click", () => { if (!dragged) tellLine(line); });
  make("title", line.reach).textContent = line.edges.slice(0, 4).map((edge) => sentence(edge)).join("\n");
}
for (const node of nodes) {
  node.dot = make("circle", by("dots"), `dot k-${node.kind}${node.place ? "" : " centre"}`);
  node.dot.setAttribute("r", node.size.toFixed(1));
  make("title", node.dot).textContent = node.name;
  node.label = make("text", by("names"), "name" + (node.place ? "" : " strong"));
  node.label.textContent = short(node.name, 30);
}
function sentence(edge) {
  const dated = edge.date ? ` (${edge.date})` : "";
  return `${numbers.get(edge.source).name} ${edge.predicate.replaceAll("_", " ")} ${numbers.get(edge.target).name}${dated}`;
}
const camera = { x: 0, y: 0, scale: 1 };
let chosen = nodes[0], wanted = null, dragged = false;
function place() {
  view.setAttribute("transform", `translate(${camera.x} ${camera.y}) scale(${camera.scale})`);
  for (const { from, to, mark, reach } of joined) {
    const ends = { x1: from.x.toFixed(1), y1: from.y.toFixed(1), x2: to.x.toFixed(1), y2: to.y.toFixed(1) };
    set(mark, ends); set(reach, ends);
  }
  for (const node of active) set(node.dot, { cx: node.x.toFixed(1), cy: node.y.toFixed(1) });
  names();
}
// Names keep their size on the screen; where two would lie upon each other, the less important one waits for a closer look.
const letters = document.createElement("canvas").getContext("2d");
letters.font = "12px system-ui, sans-serif";
for (const node of nodes) node.width = letters.measureText(node.label.textContent).width * 1.06 + 6;
function names() {
  by("names").style.fontSize = `${12 / camera.scale}px`;
  const near = new Set(chosen ? chosen.lines.flatMap((line) => [line.from, line.to]) : []);
  const lesser = (node) => node.kind === "date" || node.kind === "quantity";
  const worth = (node) => (node === chosen ? 1e6 : 0) + (faint(node) ? -1e5 : 0) + (node.place ? 0 : 1e5) + (near.has(node) ? 1e3 : 0)
    + node.lines.length * (lesser(node) ? .3 : 1);
  const taken = [];
  for (const node of [...active].sort((a, b) => worth(b) - worth(a) || a.place - b.place)) {
    const x = node.x * camera.scale, y = (node.y + node.size) * camera.scale + 13, half = node.width / 2;
    const box = [x - half, y - 11, x + half, y + 4];
    const free = taken.every((other) => box[0] > other[2] || box[2] < other[0] || box[1] > other[3] || box[3] < other[1]);
    node.label.classList.toggle("hidden", !free);
    if (!free) continue;
    taken.push(box);
    set(node.label, { x: node.x.toFixed(1), y: (node.y + node.size + 13 / camera.scale).toFixed(1) });
  }
}
function faint(node) { return wanted && !wanted.has(node); }
function shade() {
  for (const node of nodes) {
    node.dot.classList.toggle("chosen", node === chosen);
    node.dot.classList.toggle("faint", Boolean(faint(node)));
    node.label.classList.toggle("faint", Boolean(faint(node)));
    node.label.classList.toggle("strong", node === chosen || !node.place);
  }
  for (const line of lines) {
    line.mark.classList.toggle("near", line.from === chosen || line.to === chosen);
    line.mark.classList.toggle("faint", Boolean(faint(line.from) || faint(line.to)));
  }
  names();
}
function fit() {
  const box = svg.getBoundingClientRect();
  const xs = active.map((n) => n.x), ys = active.map((n) => n.y);
  const left = Math.min(...xs) - 60, right = Math.max(...xs) + 60, top = Math.min(...ys) - 40, bottom = Math.max(...ys) + 60;
  const height = Math.max(80, box.height - by("legend").offsetHeight - 8);
  camera.scale = Math.min(2, box.width / (right - left), height / (bottom - top)) || 1;
  camera.x = box.width / 2 - camera.scale * (left + right) / 2;
  camera.y = height / 2 - camera.scale * (top + bottom) / 2;
  place();
}
function zoom(factor, x, y) {
  const scale = Math.min(6, Math.max(.08, camera.scale * factor)), real = scale / camera.scale;
  camera.x = x - (x - camera.x) * real; camera.y = y - (y - camera.y) * real; camera.scale = scale;
  place();
}
function zoomMiddle(factor) { const box = svg.getBoundingClientRect(); zoom(factor, box.width / 2, box.height / 2); }
function centreOn(node) {
  const box = svg.getBoundingClientRect();
  camera.scale = Math.max(camera.scale, .9);
  camera.x = box.width / 2 - node.x * camera.scale; camera.y = box.height / 2 - node.y * camera.scale;
  place();
}

// Telling
const add = (parent, tag, text, name) => {
  const element = parent.appendChild(document.createElement(tag));
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};
function quote(parent, said) {
  const block = add(parent, "blockquote", said.text), cite = add(block, "cite", `${said.title} `, "soft");
  add(cite, "code", said.chunk);
}
function relation(parent, edge, here) {
  const item = add(parent, "div", undefined, "relation"), text = add(item, "p");
  [edge.source, edge.target].forEach((id, side) => {
    const end = numbers.get(id);
    if (side) text.append(` ${edge.predicate.replaceAll("_", " ")} `);
    if (end === here) add(text, "b", end.name);
    else add(text, "button", end.name).addEventListener("click", () => choose(end, true));
  });
  if (edge.date) text.append(` (${edge.date})`);
  if (edge.quote) quote(item, edge.quote);
  else if (edge.description) add(item, "p", edge.description, "soft");
}
const UNSTATED = ["named_with", "related_to", "links_to", "has_row"];
const bare = (edge) => Number(UNSTATED.includes(edge.predicate));
function relations(edges, here) {
  if (!edges.length) return;
  edges = [...edges].sort((a, b) => bare(a) - bare(b) || b.weight - a.weight);
  add(panel, "h3", edges.length === 1 ? "1 relation" : `${edges.length} relations`);
  for (const edge of edges.slice(0, 60)) relation(panel, edge, here);
  if (edges.length > 60) add(panel, "p", `and ${edges.length - 60} more`, "soft");
}
function tell(node) {
  panel.replaceChildren();
  panel.scrollTop = 0;
  add(panel, "h2", node.name);
  if (node.type) add(panel, "span", node.type, `badge k-${node.kind}`);
  add(panel, "p", `named ${node.count} × in ${node.chunks} ${node.chunks === 1 ? "chunk" : "chunks"}`, "soft");
  if (node.aliases.length) add(panel, "p", `also: ${node.aliases.slice(0, 12).join(", ")}`, "soft");
  if (node.description) add(panel, "p", node.description);
  if (node.quotes.length) add(panel, "h3", "What the documents say");
  for (const said of node.quotes) quote(panel, said);
  relations(node.lines.flatMap((line) => line.edges), node);
  add(add(panel, "p"), "code", node.id);
}
function tellLine(line) {
  chosen = null;
  panel.replaceChildren();
  add(panel, "h2", `${line.from.name} and ${line.to.name}`);
  relations(line.edges, null);
  shade();
  line.mark.classList.add("near");
}
function choose(node, move) {
  if (!active.includes(node)) { called.add(node); redraw(); }
  chosen = node; tell(node); shade();
  if (move) centreOn(node);
}
function redraw() {
  const { here, open } = choice();
  for (const node of nodes) for (const mark of [node.dot, node.label]) mark.classList.toggle("out", !here.has(node));
  const drawn = new Set(joined);
  for (const line of lines) for (const mark of [line.mark, line.reach]) mark.classList.toggle("out", !drawn.has(line));
  by("shown").textContent = `${active.length - 1} of ${nodes.length - 1} neighbours shown, the strongest first`;
  slider.max = Math.max(1, open);
  slider.value = Math.min(most, open);
  layout(); fit(); shade();
}
const slider = by("most");
slider.addEventListener("input", () => { most = Number(slider.value); redraw(); });
by("amount").hidden = nodes.length < 12;

// Moving, by mouse, pen or fingers
const held = new Map();
let moved = null, running = 0;
const at = (event) => { const box = svg.getBoundingClientRect(); return { x: event.clientX - box.left, y: event.clientY - box.top }; };
const inside = (point) => ({ x: (point.x - camera.x) / camera.scale, y: (point.y - camera.y) / camera.scale });
function settle() {
  if (running) return;
  let heat = .35;
  const turn = () => {
    step(heat); place();
    heat = moved ? .35 : heat * .95;
    running = heat > .02 ? requestAnimationFrame(turn) : 0;
  };
  running = requestAnimationFrame(turn);
}
svg.addEventListener("pointerdown", (event) => {
  held.set(event.pointerId, at(event));
  dragged = false;
  const node = nodes.find((each) => each.dot === event.target);
  moved = held.size === 1 ? node || null : null;
});
svg.addEventListener("pointermove", (event) => {
  const before = held.get(event.pointerId);
  if (!before) return;
  const now = at(event);
  if (!dragged && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
  if (!dragged) { dragged = true; svg.setPointerCapture(event.pointerId); svg.classList.add("moving"); }
  if (held.size === 2) {
    const other = [...held].find(([id]) => id !== event.pointerId)[1];
    const apart = (point) => Math.hypot(point.x - other.x, point.y - other.y) || 1;
    zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
  } else if (moved) {
    Object.assign(moved, inside(now), { fixed: true }); settle();
  } else {
    camera.x += now.x - before.x; camera.y += now.y - before.y; place();
  }
  held.set(event.pointerId, now);
});
for (const kindOf of ["pointerup", "pointercancel"]) svg.addEventListener(kindOf, (event) => {
  held.delete(event.pointerId);
  svg.classList.remove("moving");
  if (moved && !dragged && kindOf === "pointerup") choose(moved, false);
  moved = null;
});
svg.addEventListener("dblclick", (event) => {
  const node = nodes.find((each) => each.dot === event.target);
  if (node) { node.fixed = false; settle(); }
});
svg.addEventListener("wheel", (event) => {
  event.preventDefault();
  const point = at(event);
  zoom(Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) * .004), point.x, point.y);
}, { passive: false });
svg.addEventListener("keydown", (event) => {
  const way = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
  if (way) { camera.x += way[0]; camera.y += way[1]; place(); }
  else if (event.key === "+") zoomMiddle(1.25);
  else if (event.key === "-") zoomMiddle(.8);
  else return;
  event.preventDefault();
});
for (const [id, act] of [["closer", () => zoomMiddle(1.25)], ["farther", () => zoomMiddle(.8)], ["fit", fit]]) by(id).addEventListener("click", act);
window.addEventListener("resize", fit);

// Finding
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
search.addEventListener("input", () => {
  const text = plain(search.value.trim());
  wanted = text ? new Set(nodes.filter((node) => [node.name, ...node.aliases].some((name) => plain(name).includes(text)))) : null;
  by("matches").textContent = wanted ? `${wanted.size} found` : "";
  shade();
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && wanted && wanted.size) choose(wanted.values().next().value, true);
  if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); }
});
for (const each of [...KINDS, "other"]) {
  const count = nodes.filter((node) => node.place && node.kind === each).length;
  if (!count) continue;
  const button = add(by("legend"), "button", undefined, `k-${each}`);
  button.setAttribute("aria-pressed", "true");
  button.title = `Show or hide what is called ${each}`;
  add(button, "i");
  button.append(`${each} ${count}`);
  button.addEventListener("click", () => {
    if (!off.delete(each)) off.add(each);
    button.setAttribute("aria-pressed", String(!off.has(each)));
    redraw();
  });
}

by("title").textContent = nodes[0].name;
by("summary").textContent = [`${nodes.length} entities, ${data.edges.length} relations within ${data.hops} ${data.hops === 1 ? "hop" : "hops"}.`, data.cut].join(" ").trim();
redraw();
choose(nodes[0], false);
document.body.dataset.drawn = "all";
