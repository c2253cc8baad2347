// The picture of a graph, drawn by sigma over WebGL. It holds nothing that the lists beside it do not say.
import { html, useEffect, useRef, useState } from "../parts/html.js";
import { shown } from "../parts/figures.js";

const STEPS = 90;  // frames in which new entities find their places
const PICKED = 2000;  // edges up to which a click on one is looked for
const library = () => import("../vendor/sigma.mjs");

// Whether there is WebGL, and whether it has a GPU: without one, lines are left out while the picture is moved.
export function drawing() {
  const context = document.createElement("canvas").getContext("webgl2");
  const info = context?.getExtension("WEBGL_debug_renderer_info");
  return { able: Boolean(context), slow: /swiftshader|llvmpipe|software|basic render/i.test(info ? context.getParameter(info.UNMASKED_RENDERER_WEBGL) : "") };
}

// Colours of the style sheet, which follow light and dark.
function palette(element) {
  const style = getComputedStyle(element), value = (name) => style.getPropertyValue(name).trim();
  return {
    own: Array.from({ length: 10 }, (_, at) => value(`--g${at}`)), none: value("--g-none"), faint: value("--g-faint"), edge: value("--g-edge"), strong: value("--mark"),
    ink: value("--ink"), paper: value("--paper"), soft: value("--soft"),
  };
}

const short = (text) => text.length > 34 ? `${text.slice(0, 33)}…` : text;
const large = (node, many) => (many ? 2 : 4) + Math.min(many ? 8 : 9, Math.sqrt(node.degree) * (many ? .8 : 1.1));

// Names stand below their dots, with the paper around the letters. Those of a frame are gathered and written largest first: one that would lie
// upon another waits for a closer look.
function naming(colours) {
  const waiting = [], taken = [];
  const put = (context, data, settings, always = false) => {
    context.font = `${data.strong ? 650 : 450} ${settings.labelSize}px ${settings.labelFont}`;
    const y = data.y + data.size + settings.labelSize + 1, half = context.measureText(data.label).width / 2 + 2;
    const box = [data.x - half, y - settings.labelSize, data.x + half, y + 4];
    if (!always && taken.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) return;
    taken.push(box);
    Object.assign(context, { textAlign: "center", lineJoin: "round", lineWidth: 4, strokeStyle: colours().paper, fillStyle: colours().ink });
    context.strokeText(data.label, data.x, y);
    context.fillText(data.label, data.x, y);
  };
  return {
    label: (context, data, settings) => { if (data.label) waiting.push([context, data, settings]); },
    hover: (context, data, settings) => { if (data.label) put(context, data, settings, true); },
    begin: () => { waiting.length = taken.length = 0; },
    end: () => { for (const [context, data, settings] of waiting.sort(([, a], [, b]) => b.size - a.size)) put(context, data, settings, data.strong); },
  };
}

// Where a new node begins: around the one it was found by, else around the middle. The golden angle, so that it is always the same.
function beginning(graph, node, number) {
  if (node.x !== undefined) return { x: node.x, y: node.y };
  const near = node.near && graph.hasNode(node.near) ? graph.getNodeAttributes(node.near) : { x: 0, y: 0 };
  const angle = number * 2.399963, reach = 12 + Math.sqrt(number) * 4;
  return { x: near.x + Math.cos(angle) * reach, y: near.y + Math.sin(angle) * reach };
}

// Brings the graph to what the picture shows; true where something is new and has no place of its own.
function brought(graph, { nodes, edges }) {
  const many = nodes.length > 400, wanted = new Map(nodes.map((node) => [node.id, node])), lines = new Map(edges.map((edge) => [edge.key, edge]));
  for (const key of graph.edges()) if (!lines.has(key)) graph.dropEdge(key);
  for (const id of graph.nodes()) if (!wanted.has(id)) graph.dropNode(id);
  let unplaced = false;
  nodes.forEach((node, number) => {
    const label = short(shown(node.stop ? `${node.stop} · ${node.name}` : node.name)), attributes = { label, size: large(node, many) + (node.stop <= 3 ? 4 : 0), early: node.stop <= 12, community: node.community, type: many ? "point" : "circle" };
    if (graph.hasNode(node.id)) graph.mergeNodeAttributes(node.id, node.x === undefined ? attributes : { ...attributes, x: node.x, y: node.y });
    else {
      unplaced ||= node.x === undefined;
      graph.addNode(node.id, { ...attributes, ...beginning(graph, node, number) });
    }
  });
  for (const edge of edges) {
    if (!graph.hasNode(edge.source) || !graph.hasNode(edge.target)) continue;
    // A line of one pixel costs half of one with a width, and a point half of a circle.
    const attributes = { size: edge.walked ? 3 : .8 + Math.min(2.5, Math.log1p(edge.weight) * .7), walked: edge.walked ?? false, type: many ? "thin" : "line" };
    if (graph.hasEdge(edge.key)) graph.mergeEdgeAttributes(edge.key, attributes);
    else if (!graph.hasEdge(edge.source, edge.target)) graph.addEdgeWithKey(edge.key, edge.source, edge.target, { ...attributes, weight: edge.weight });
  }
  return unplaced;
}

// What is chosen and lit is told to sigma by two functions that it asks for every node and edge.
function reducers(look) {
  const dim = (id) => look().lit && !look().lit.has(id);
  return {
    nodeReducer: (id, data) => {
      const { colours, chosen, of } = look(), at = of.get(data.community), strong = id === chosen, faint = dim(id);
      const color = faint ? colours.faint : at === undefined ? colours.none : colours.own[at];
      return { ...data, color, faint, strong, label: faint ? "" : data.label, forceLabel: strong || data.early || (look().lit?.size <= 30 && !faint), size: strong ? data.size * 1.35 : data.size, zIndex: strong ? 2 : faint ? 0 : 1 };
    },
    edgeReducer: (key, data) => {
      const { colours, chosen, graph, lit } = look();
      const [one, other] = graph.extremities(key), near = one === chosen || other === chosen;
      const color = data.walked || near ? colours.strong : colours.edge;
      return { ...data, color, hidden: Boolean(lit) && !data.walked && (dim(one) || dim(other)), zIndex: near || data.walked ? 1 : 0 };
    },
  };
}

// New entities find their places in small steps, one a frame; where motion is not wanted, before they are seen.
function settle({ Graph, forceAtlas2 }, graph, stopped) {
  const settings = { ...forceAtlas2.inferSettings(graph), gravity: .6, scalingRatio: 12, slowDown: 3, edgeWeightInfluence: .4, barnesHutOptimize: graph.order > 400 };
  const step = (iterations) => graph.size && forceAtlas2.assign(graph, { iterations, settings });
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return step(2 * STEPS);
  step(20);
  let left = STEPS;
  const turn = () => {
    if (stopped() || !left--) return;
    step(2);
    requestAnimationFrame(turn);
  };
  return requestAnimationFrame(turn);
}

export function Picture({ picture, chosen, lit, of, choose, open, label }) {
  const box = useRef(null), own = useRef(null), [ready, set] = useState(false);
  // What sigma asks for while it draws: the newest, without making it anew.
  const look = useRef(null);
  look.current = { ...look.current, chosen, lit, of, choose, open, picture };
  useEffect(() => {
    let gone = false;
    library().then((made) => {
      if (gone) return;
      const graph = new made.Graph(), media = matchMedia("(prefers-color-scheme: dark)");
      const paint = () => { look.current.colours = palette(box.current); own.current?.sigma.refresh({ skipIndexation: true }); };
      look.current = { ...look.current, graph };
      paint();
      const names = naming(() => look.current.colours);
      const sigma = new made.Sigma(graph, box.current, {
        ...reducers(() => look.current), defaultDrawNodeLabel: names.label, defaultDrawNodeHover: names.hover, labelFont: "system-ui, sans-serif", labelSize: 12, labelDensity: 1.5, labelGridCellSize: 130,
        labelRenderedSizeThreshold: 6, hideEdgesOnMove: drawing().slow, nodeProgramClasses: { circle: made.NodeCircleProgram, point: made.NodePointProgram }, edgeProgramClasses: { line: made.EdgeRectangleProgram, thin: made.EdgeLineProgram }, zIndex: true, stagePadding: 36, minCameraRatio: .02, maxCameraRatio: 3, doubleClickZoomingRatio: 1, allowInvalidContainer: true,
      });
      sigma.on("beforeRender", names.begin);
      sigma.on("afterRender", names.end);
      sigma.on("clickNode", ({ node }) => look.current.choose(node));
      sigma.on("clickEdge", ({ edge }) => look.current.open(edge));
      sigma.on("clickStage", () => look.current.choose(""));
      for (const [event, shape] of [["enterNode", "pointer"], ["leaveNode", ""], ["enterEdge", "pointer"], ["leaveEdge", ""]]) sigma.on(event, () => { box.current.style.cursor = shape; });
      media.addEventListener("change", paint);
      own.current = { made, graph, sigma, round: 0, end: () => { media.removeEventListener("change", paint); sigma.kill(); } };
      box.current.sigma = sigma;  // for whoever measures it
      set(true);
    });
    return () => { gone = true; own.current?.end(); own.current = null; };
  }, []);
  useEffect(() => {
    if (!ready) return;
    const { made, graph, sigma } = own.current, round = own.current.round += 1;
    sigma.setSetting("enableEdgeEvents", picture.kind !== "map" && picture.edges.length <= PICKED);
    if (brought(graph, picture)) settle(made, graph, () => own.current?.round !== round);
    sigma.refresh();
  }, [ready, picture]);
  useEffect(() => {
    if (!ready) return;
    own.current.sigma.refresh({ skipIndexation: true });
  }, [ready, chosen, lit, of]);
  const camera = (act) => () => act(own.current.sigma.getCamera());
  const quick = { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200 };
  return html`<div class="picture">
    <div class="stage" ref=${box} aria-hidden="true"></div>
    <p class="unseen">${label}</p>
    <div class="zoom" role="group" aria-label="Picture">
      <button type="button" aria-label="Zoom in" disabled=${!ready} onClick=${camera((one) => one.animatedZoom(quick))}>+</button>
      <button type="button" aria-label="Zoom out" disabled=${!ready} onClick=${camera((one) => one.animatedUnzoom(quick))}>−</button>
      <button type="button" aria-label="Show all" disabled=${!ready} onClick=${camera((one) => one.animatedReset(quick))}>⤢</button>
    </div>
  </div>`;
}
