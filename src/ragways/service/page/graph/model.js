// What is on the picture, as plain data: { kind, nodes: [node], edges: [{ source, target, weight, relations }] }.

export const pair = (a, b) => a < b ? `${a} ${b}` : `${b} ${a}`;

// One line for all relations of two entities.
export function joined(edges) {
  const lines = new Map();
  for (const edge of edges) {
    if (edge.source === edge.target) continue;
    const key = pair(edge.source, edge.target);
    if (!lines.has(key)) lines.set(key, { key, source: edge.source, target: edge.target, weight: 0, relations: [] });
    const line = lines.get(key);
    line.weight += edge.weight;
    line.relations.push(edge);
  }
  return [...lines.values()];
}

// The map comes with places, and with edges by number.
export function ofMap(found) {
  const edges = found.edges.map(([a, b, weight]) => {
    const source = found.nodes[a].id, target = found.nodes[b].id;
    return { key: pair(source, target), source, target, weight, relations: [] };
  });
  return { kind: "map", nodes: found.nodes, edges, communities: found.communities, entities: found.entities };
}

export function ofNeighbourhood(found) {
  return { kind: "around", root: found.entity.id, nodes: found.nodes, edges: joined(found.edges) };
}

// What is found around another entity is added; what is there stays where it is. New ones begin near `around`.
export function merged(old, found) {
  const nodes = new Map(old.nodes.map((node) => [node.id, node])), edges = new Map(old.edges.map((edge) => [edge.key, edge]));
  for (const node of found.nodes) if (!nodes.has(node.id)) nodes.set(node.id, { ...node, near: found.entity.id });
  for (const edge of joined(found.edges)) {
    const before = edges.get(edge.key)?.relations ?? [];
    const relations = [...edge.relations, ...before.filter((one) => !edge.relations.some((other) => other.id === one.id))];
    edges.set(edge.key, { ...edge, relations, weight: relations.reduce((sum, one) => sum + one.weight, 0) });
  }
  return { ...old, nodes: [...nodes.values()], edges: [...edges.values()] };
}

// Paths from left to right: a column a hop, in the order in which the paths come.
export function ofPaths(found) {
  const place = new Map(), rows = [];
  for (const { nodes } of found.paths) {
    nodes.forEach((id, column) => {
      if (place.has(id)) return;
      rows[column] = (rows[column] ?? 0) + 1;
      place.set(id, { column, row: rows[column] });
    });
  }
  const nodes = found.nodes.map((node) => {
    const { column, row } = place.get(node.id);
    return { ...node, x: column * 100, y: (row - (rows[column] + 1) / 2) * -60 };
  });
  return { kind: "paths", nodes, edges: joined(found.edges), paths: found.paths, relations: new Map(found.edges.map((edge) => [edge.id, edge])) };
}

// A walk: its entities carry the number of the stop that named them first. Windows are visited one after the other, so lines lead from stop to
// stop; PageRank spreads from its seeds, so those relations are drawn by which it went.
export function ofWalk(found) {
  const first = new Map();
  for (const stop of found.stops) for (const id of stop.entities) if (!first.has(id)) first.set(id, stop.number);
  const nodes = found.nodes.map((node) => ({ ...node, stop: first.get(node.id) }));
  const edges = new Map(joined(found.edges).map((edge) => [edge.key, edge]));
  const at = (...roles) => new Set(found.stops.filter((stop) => roles.includes(stop.role)).flatMap((stop) => stop.entities));
  const seeds = at("seed"), reached = at("seed", "entity");
  for (const edge of edges.values()) edge.walked = reached.has(edge.source) && reached.has(edge.target) && (seeds.has(edge.source) || seeds.has(edge.target));
  const heads = seeds.size ? [] : found.stops.map((stop) => stop.entities[0]);
  heads.forEach((target, n) => {
    const source = heads[n - 1];
    if (!n || source === target) return;
    const key = pair(source, target);
    edges.set(key, { weight: 1, relations: [], ...edges.get(key), key, source, target, walked: true });
  });
  return { kind: "walk", nodes, edges: [...edges.values()], stops: found.stops, stopped: found.stopped };
}

// Those that are joined to an entity on the picture, and itself.
export function lit(picture, id) {
  const near = new Set([id]);
  for (const { source, target } of picture.edges) {
    if (source === id) near.add(target);
    if (target === id) near.add(source);
  }
  return near;
}

// The attachments of an answer's trace that tell of a walk, and its evidence: what the server draws a walk from.
export function walkOf(result) {
  const attachments = [];
  const visit = (steps) => {
    for (const step of steps ?? []) {
      for (const each of step.attachments ?? []) if (each.kind === "GraphWalk" || each.kind === "WindowPath") attachments.push(each);
      visit(step.steps);
    }
  };
  visit(result.steps);
  return { attachments: attachments.slice(0, 40), evidence: (result.evidence ?? []).map((piece) => piece.id).slice(0, 60) };
}

// Which of the ten colours a community has: the largest ten have one of their own.
export function colours(communities) {
  return new Map(communities.slice(0, 10).map((one, at) => [one.id, at]));
}
