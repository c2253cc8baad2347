// Graph: a map of the entities, what is around one, paths between two, communities, and the walk that led to an answer.
import { html, useCallback, useEffect, useMemo, useRef, useState } from "../parts/html.js";
import { api, path, query as ending } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { collectionOf } from "../parts/home.js";
import { lastResult } from "../parts/last.js";
import { go, link } from "../parts/router.js";
import { Choice, Empty, say, Trouble, Waiting } from "../parts/ui.js";
import { EntitySearch } from "./find.js";
import { colours, lit, merged, ofMap, ofNeighbourhood, ofPaths, ofWalk, walkOf } from "./model.js";
import { Communities, Community, Entity, Line, Listed, Paths, Walk } from "./panels.js";
import { drawing, Picture } from "./picture.js";

const NONE = new Map();
const at = (collection) => path`/collections/${collection}`;
const around = (collection, id, limit, signal) => api.get(`${at(collection)}${path`/entities/${id}/neighbourhood`}${ending({ limit })}`, signal);

// What the address asks for, fetched: a picture, and what was told of an entity where it is one's surroundings.
async function fetched(collection, { kind, first, second, most, result }, signal) {
  if (kind === "around") {
    const found = await around(collection, first, 60, signal);
    return { picture: ofNeighbourhood(found), about: found };
  }
  if (kind === "paths") return { picture: ofPaths(await api.get(at(collection) + `/paths${ending({ start: first, end: second, limit: 8 })}`, signal)) };
  if (kind === "walk") return { picture: ofWalk(await api.post(`${at(collection)}/walk`, walkOf(result), signal)) };
  return { picture: ofMap(await api.get(`${at(collection)}/graph${ending({ limit: most })}`, signal)) };
}

export default function Graph({ collection, rest: [what = "", first = "", second = ""], query }) {
  const result = query.walk ? lastResult(collection) : null;
  const kind = query.walk ? "walk" : { entity: "around", paths: "paths" }[what] ?? "map";
  const [most, show] = useState(1000), [state, set] = useState({ picture: null, problem: null, about: null }), [round, again] = useState(0);
  const [side, turn] = useState("details"), [line, open] = useState(null), [finding, find] = useState(kind === "paths");
  const [named, name] = useState({}), seen = useMemo(() => drawing().able, []);
  const panel = useRef(null), latest = useRef(""), held = useRef({});
  const group = what === "community" ? first : "";
  const key = [kind, kind === "map" ? most : `${first}/${second}`, round].join(" ");

  useEffect(() => {
    if (!collectionOf(collection)?.layers?.includes("graph") || (kind === "walk" && !result)) return undefined;
    const abort = new AbortController();
    set((old) => ({ picture: old.picture?.kind === kind && kind === "map" ? old.picture : null, problem: null, about: null }));
    open(null);
    fetched(collection, { kind, first, second, most, result }, abort.signal).then(
      (found) => { if (!abort.signal.aborted) set({ problem: null, about: null, ...found }); },
      (problem) => { if (!abort.signal.aborted) set((old) => ({ ...old, problem })); },
    );
    return () => abort.abort();
  }, [collection, key]);
  useEffect(() => { if (group) turn("details"); }, [group]);

  // An entity that is clicked tells of itself; where the picture grows, its neighbours come onto it.
  const choose = useCallback(async (id) => {
    latest.current = id;
    open(null);
    if (!id) {
      if (group) go("graph", collection);
      return set((old) => ({ ...old, about: null }));
    }
    try {
      const found = await around(collection, id, 40);
      if (latest.current !== id) return undefined;
      set((old) => ({ ...old, problem: null, about: found, picture: old.picture.kind === "around" ? merged(old.picture, found) : old.picture }));
      turn("details");
      say(`${found.entity.name}, joined to ${found.reached - 1}.`);
      requestAnimationFrame(() => panel.current?.querySelector("h2")?.focus({ preventScroll: innerWidth > 900 }));
    } catch (problem) {
      set((old) => ({ ...old, problem }));
    }
    return undefined;
  }, [collection, group]);

  // What stands here until the new address is read is not what it asks for.
  const { about, problem } = state, picture = state.picture?.kind === kind ? state.picture : null, chosen = about?.entity.id ?? "";
  const known = useMemo(() => new Map((picture?.communities ?? []).map((one) => [one.id, one])), [picture]);
  const of = useMemo(() => picture ? colours(picture.communities ?? counted(picture.nodes)) : NONE, [picture]);
  const light = useMemo(() => {
    if (!picture || (!chosen && !group)) return null;
    return chosen ? lit(picture, chosen) : new Set(picture.nodes.filter((node) => node.community === group).map((node) => node.id));
  }, [picture, chosen, group]);
  if (!collectionOf(collection)?.layers?.includes("graph")) return html`<${NoGraph} collection=${collection} />`;
  if (kind === "walk" && !result) return html`<${NoWalk} collection=${collection} />`;

  const nodes = new Map((picture?.nodes ?? []).map((node) => [node.id, node]));
  const shownLine = (id) => { open(picture.edges.find((edge) => edge.key === id)); turn("details"); };
  // Both boxes may find theirs before the view is drawn again: the second must not undo the first.
  held.current = named;
  const two = (part) => {
    name(held.current = { ...held.current, ...part });
    const start = held.current.start ?? nodes.get(first), { end } = held.current;
    if (start && end) go("graph", collection, ["paths", start.id, end.id]);
  };
  const details = () => {
    if (line) return html`<${Line} collection=${collection} line=${line} nodes=${nodes} choose=${choose} />`;
    if (about) return html`<${Entity} collection=${collection} found=${about} communities=${known} explore=${kind !== "around"} choose=${choose} from=${(one) => { name({ start: one }); find(true); }} />`;
    if (group) return html`<${Community} key=${group} collection=${collection} id=${group} choose=${choose} />`;
    if (kind === "paths") return html`<${Paths} collection=${collection} picture=${picture} choose=${choose} />`;
    if (kind === "walk") return html`<${Walk} collection=${collection} picture=${picture} question=${result.question} choose=${choose} />`;
    return html`<p class="soft">Choose an entity on the picture, in the list or by search, and see what it is joined to and the sentences that say so.</p><${Communities} collection=${collection} current=${group} of=${of} />`;
  };
  const pick = (id, label) => html`<button type="button" aria-pressed=${side === id} onClick=${() => turn(id)}>${label}</button>`;
  return html`<section class="graph" aria-label="Graph">
    <h1 class="unseen">Graph of ${shown(collection)}</h1>
    <div class="tools">
      <${EntitySearch} collection=${collection} label="Find an entity" hidden placeholder="Find an entity …" choose=${(one) => kind === "map" && nodes.has(one.id) ? choose(one.id) : go("graph", collection, ["entity", one.id])} />
      <button type="button" aria-expanded=${finding} onClick=${() => find(!finding)}>Path between two</button>
      ${kind === "map" ? html`<${Choice} label="Show" value=${String(most)} options=${[["200", "200 entities"], ["1000", "1,000 entities"], ["5000", "5,000 entities"]]} change=${(value) => show(Number(value))} />`
        : html`<a class="button" href=${link("graph", collection)}>The whole map</a>`}
      ${lastResult(collection) && kind !== "walk" && html`<a class="button" href=${link("graph", collection, [], { walk: "last" })}>The last answer’s walk</a>`}
    </div>
    ${finding && html`<div class="tools between" role="group" aria-label="Path between two entities">
      <${EntitySearch} collection=${collection} label="From" value=${named.start?.name ?? nodes.get(first)?.name ?? ""} choose=${(one) => two({ start: one })} />
      <${EntitySearch} collection=${collection} label="To" value=${named.end?.name ?? nodes.get(second)?.name ?? ""} choose=${(one) => two({ end: one })} />
    </div>`}
    <${Trouble} problem=${problem} again=${() => again(round + 1)} />
    ${!picture && !problem && html`<${Waiting}>The graph is being read …<//>`}
    ${picture && html`<div class="sides">
      <div class="canvas">
        ${!seen ? html`<p class="notice">This browser draws no WebGL, so there is no picture here. The lists beside it say the same.</p>`
          : picture.nodes.length ? html`<${Picture} key=${key} picture=${picture} chosen=${chosen} lit=${light} of=${of} choose=${choose} open=${shownLine} label=${`A picture of ${picture.nodes.length} entities; the list beside it has the same.`} />`
            : html`<p class="notice soft">${kind === "walk" ? "Nothing on the way to this answer names an entity of the graph." : kind === "paths" ? "Nothing joins these two." : "There is nothing to draw."}</p>`}
        <p class="soft small under">${summary(picture)}</p>
      </div>
      <div class="panel-side">
        <div class="row pick" role="group" aria-label="Beside the picture">${pick("details", "Details")}${pick("list", "List")}${pick("communities", "Communities")}</div>
        <div class="panel-body" ref=${panel}>
          ${side === "list" ? html`<${Listed} picture=${picture} chosen=${chosen} communities=${known} choose=${choose} />`
            : side === "communities" ? html`<${Communities} collection=${collection} current=${group} of=${of} />` : details()}
        </div>
      </div>
    </div>`}
  </section>`;
}

// Where the communities were not told, those of the entities, the largest first.
function counted(nodes) {
  const sizes = new Map();
  for (const { community } of nodes) if (community) sizes.set(community, (sizes.get(community) ?? 0) + 1);
  return [...sizes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([id]) => ({ id }));
}

function summary({ kind, nodes, edges, entities }) {
  const drawn = `${nodes.length.toLocaleString("en")} entities, ${count(edges.length, "line")}`;
  return kind === "map" && entities > nodes.length ? `${drawn}: the best-connected of ${entities.toLocaleString("en")} entities, without dates and quantities. Colours are communities.` : drawn;
}

function NoGraph({ collection }) {
  return html`<${Empty} title="No graph yet">
    <p>The index of ${shown(collection)} has no knowledge graph. Index it with the layers <code>graph</code> and <code>communities</code>, and its entities are drawn here.</p>
    <p><a class="button main" href=${link("library", collection)}>Open the library</a></p>
  <//>`;
}

function NoWalk({ collection }) {
  return html`<${Empty} title="No answer yet">
    <p>The walk of an answer is drawn from the last one in this tab.</p>
    <p><a class="button main" href=${link("ask", collection)}>Ask something</a></p>
  <//>`;
}
