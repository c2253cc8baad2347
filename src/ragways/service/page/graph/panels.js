// What stands beside the picture: an entity with its evidence, a community with its report, paths, a walk, and everything as lists.
import { html, useLoaded, useState } from "../parts/html.js";
import { api, path, query } from "../parts/api.js";
import { openDocument } from "../parts/document.js";
import { count, shown } from "../parts/figures.js";
import { link } from "../parts/router.js";
import { Trouble, Waiting } from "../parts/ui.js";

const LISTED = 150;
const VAGUE = new Set(["named_with", "related_to", "links_to", "has_row"]);
const said = (predicate) => predicate.replaceAll("_", " ");

export function Quote({ collection, quote }) {
  if (!quote) return null;
  const open = () => openDocument({ collection, document: quote.document, start: quote.start, end: quote.end, title: quote.title });
  return html`<blockquote class="quote"><p>${shown(quote.text)}</p>
    <button type="button" class="quiet small source" onClick=${open}>${shown(quote.title)}<span class="unseen">: open the document at this sentence</span></button>
  </blockquote>`;
}

function Name({ node, here, choose }) {
  if (!node) return html`<span>?</span>`;
  return node.id === here ? html`<strong>${shown(node.name)}</strong>` : html`<button type="button" class="entity" onClick=${() => choose(node.id)}>${shown(node.name)}</button>`;
}

export function Relation({ collection, edge, nodes, here = "", choose }) {
  return html`<div class="relation">
    <p><${Name} node=${nodes.get(edge.source)} here=${here} choose=${choose} /> <span class="soft">${shown(said(edge.predicate))}</span> <${Name} node=${nodes.get(edge.target)} here=${here} choose=${choose} />${edge.date && html` <span class="soft">(${shown(edge.date)})</span>`}</p>
    <${Quote} collection=${collection} quote=${edge.quote} />
  </div>`;
}

// Relations that say something come before those that only say that two are named together.
const clear = (edges) => { const some = edges.filter((edge) => !VAGUE.has(edge.predicate)); return some.length ? some : edges; };
const telling = (edges) => [...edges].sort((a, b) => VAGUE.has(a.predicate) - VAGUE.has(b.predicate) || b.weight - a.weight);

function Relations({ collection, edges, nodes, here, choose }) {
  const [all, show] = useState(false);
  const sorted = telling(edges), some = all ? sorted : sorted.slice(0, 12);
  if (!edges.length) return null;
  return html`<h3>${count(edges.length, "relation")}</h3>
    ${some.map((edge) => html`<${Relation} key=${edge.id} collection=${collection} edge=${edge} nodes=${nodes} here=${here} choose=${choose} />`)}
    ${some.length < sorted.length && html`<button type="button" onClick=${() => show(true)}>Show all ${sorted.length}</button>`}`;
}

// `found` is what the server told of the neighbourhood.
export function Entity({ collection, found, communities, explore, choose, from }) {
  const { entity } = found, nodes = new Map(found.nodes.map((node) => [node.id, node])), own = nodes.get(entity.id);
  const community = communities.get(own?.community);
  const edges = found.edges.filter((edge) => edge.source === entity.id || edge.target === entity.id);
  return html`<article class="told">
    <h2 tabindex="-1">${shown(entity.name)}</h2>
    <p class="row">${entity.type && html`<span class="tag">${shown(entity.type)}</span>`}
      <span class="soft small">named ${count(entity.count, "time")} in ${count(entity.chunks, "passage")}, joined to ${own?.degree ?? 0}</span></p>
    ${entity.aliases.length > 0 && html`<p class="soft small">also ${shown(entity.aliases.join(", "))}</p>`}
    ${entity.description && html`<p>${shown(entity.description)}</p>`}
    ${community && html`<p class="small">in <a href=${link("graph", collection, ["community", community.id])}>${shown(community.title || "a community")}</a></p>`}
    <div class="row actions">
      ${explore ? html`<a class="button" href=${link("graph", collection, ["entity", entity.id])}>Explore from here</a>`
        : html`<span class="soft small">${found.reached > found.nodes.length ? `The ${found.nodes.length - 1} strongest of ${found.reached - 1} neighbours were added.` : "All of its neighbours are on the picture."}</span>`}
      <button type="button" class="quiet" onClick=${() => from({ id: entity.id, name: entity.name })}>Path from here …</button>
    </div>
    ${entity.quotes.length > 0 && html`<h3>What the documents say</h3>${entity.quotes.map((quote) => html`<${Quote} key=${quote.chunk + quote.start} collection=${collection} quote=${quote} />`)}`}
    <${Relations} key=${entity.id} collection=${collection} edges=${edges} nodes=${nodes} here=${entity.id} choose=${choose} />
  </article>`;
}

export function Line({ collection, line, nodes, choose }) {
  return html`<article class="told">
    <h2 tabindex="-1">${shown(nodes.get(line.source).name)} and ${shown(nodes.get(line.target).name)}</h2>
    ${line.relations.length ? html`<${Relations} key=${line.key} collection=${collection} edges=${line.relations} nodes=${nodes} here="" choose=${choose} />`
      : html`<p class="soft">The walk went from one to the other; no relation between them is stated.</p>`}
  </article>`;
}

export function Community({ collection, id, choose }) {
  const { value, problem, again } = useLoaded((signal) => api.get(path`/collections/${collection}/communities/${id}`, signal), [collection, id]);
  const [all, show] = useState(false);
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  if (!value) return html`<${Waiting} />`;
  const members = all ? value.members : value.members.slice(0, 20);
  return html`<article class="told">
    <h2 tabindex="-1">${shown(value.title || "A community")}</h2>
    <p class="soft small">${count(value.size, "entity").replace("entitys", "entities")}${value.way ? `, reported by ${shown(value.way)}` : ", too small for a report"}</p>
    ${value.parent && html`<p class="small"><a href=${link("graph", collection, ["community", value.parent])}>The community around it</a></p>`}
    <p class="reading">${shown(value.summary)}</p>
    ${value.findings.length > 0 && html`<h3>Findings</h3><ul class="findings">${value.findings.map((one, at) => html`<li key=${at}>
      <p>${shown(one.text)}</p>
      <p class="small">${one.entities.map((each) => html`<button type="button" class="entity" key=${each.id} onClick=${() => choose(each.id)}>${shown(each.name)}</button> `)}</p></li>`)}</ul>`}
    ${value.children.length > 0 && html`<h3>Communities inside it</h3><ul class="plain">${value.children.map((one) => html`<li key=${one.id}><a href=${link("graph", collection, ["community", one.id])}>${shown(one.title || "without a report")}</a> <span class="soft small">${one.size}</span></li>`)}</ul>`}
    <h3>Members</h3>
    <ul class="plain members">${members.map((node) => html`<li key=${node.id}><button type="button" class="entity" onClick=${() => choose(node.id)}>${shown(node.name)}</button> <span class="soft small">${shown(node.type)}</span></li>`)}</ul>
    ${members.length < value.members.length && html`<button type="button" onClick=${() => show(true)}>Show ${value.members.length}</button>`}
  </article>`;
}

export function Communities({ collection, current, of }) {
  const { value, problem, again } = useLoaded((signal) => api.get(path`/collections/${collection}/communities` + query({ limit: 200 }), signal), [collection]);
  if (problem?.code === "missing_layer") return html`<p class="soft">This index has no communities. Build them with the layer <code>communities</code>.</p>`;
  if (problem) return html`<${Trouble} problem=${problem} again=${again} />`;
  if (!value) return html`<${Waiting} />`;
  return html`<p class="soft small">${count(value.total, "community").replace("communitys", "communities")} at the coarsest level, those that matter most first.</p>
    <ul class="plain communities">${value.communities.map((one) => html`<li key=${one.id}>
      <a href=${link("graph", collection, ["community", one.id])} aria-current=${one.id === current ? "true" : undefined}>
        <span class=${`dot d${of.get(one.id) ?? "none"}`} aria-hidden="true"></span><span>${shown(one.title || "Without a report")}</span> <span class="soft small">${one.size}</span>
      </a></li>`)}</ul>`;
}

export function Paths({ collection, picture, choose }) {
  const nodes = new Map(picture.nodes.map((node) => [node.id, node]));
  if (!picture.paths.length) return html`<p>No path of eight hops or fewer joins these two.</p>`;
  const hops = picture.paths[0].nodes.length - 1;
  return html`<h2 tabindex="-1">${count(picture.paths.length, "shortest path")} of ${count(hops, "hop")}</h2>
    <ol class="paths">${picture.paths.map((one, at) => html`<li key=${at}>
      <p class="way">${one.nodes.map((id, n) => html`${n > 0 && html`<span class="soft"> → </span>`}<${Name} node=${nodes.get(id)} here="" choose=${choose} />`)}</p>
      ${one.hops.map((ids) => clear(telling(ids.map((id) => picture.relations.get(id)).filter(Boolean))).slice(0, 2).map((edge) => html`<${Relation} key=${edge.id} collection=${collection} edge=${edge} nodes=${nodes} choose=${choose} />`))}
    </li>`)}</ol>`;
}

const ROLES = { seed: "began at", entity: "went to", passage: "passage", window: "window", relation: "relation", community: "community" };

export function Walk({ collection, picture, question, choose }) {
  const nodes = new Map(picture.nodes.map((node) => [node.id, node]));
  const open = ({ place, title }) => openDocument({ collection, ...place, title });
  return html`<h2 tabindex="-1">The walk to the answer</h2>
    <p class="soft">${shown(question)}</p>
    <ol class="stops">${picture.stops.map((stop) => html`<li key=${stop.number} value=${stop.number}>
      <p><span class="tag">${ROLES[stop.role]}</span> ${stop.place ? html`<button type="button" class="entity" onClick=${() => open(stop)}>${shown(stop.title)}</button>` : html`<strong>${shown(stop.title)}</strong>`}</p>
      ${stop.text && stop.text !== stop.title && html`<p class="small soft cut">${shown(stop.text)}</p>`}
      <p class="small">${stop.entities.filter((id) => nodes.has(id)).map((id) => html`<${Name} node=${nodes.get(id)} here="" choose=${choose} /> `)}</p>
    </li>`)}</ol>
    ${picture.stopped && html`<p class="soft small">It stopped: ${shown(picture.stopped)}.</p>`}`;
}

// The picture as a table: whoever cannot see or point has everything here.
export function Listed({ picture, chosen, communities, choose }) {
  const rows = [...picture.nodes].sort((a, b) => b.degree - a.degree || (a.name < b.name ? -1 : 1));
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = [...event.currentTarget.querySelectorAll("button.entity")], next = buttons[buttons.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); }
  };
  return html`<div class="frame"><table class="listed" onKeyDown=${keys}>
    <caption class="soft small">${rows.length > LISTED ? `The ${LISTED} best-connected of ${rows.length.toLocaleString("en")} entities on the picture; others are found by search` : `${count(rows.length, "entity").replace("entitys", "entities")} on the picture`}</caption>
    <thead><tr><th scope="col">Entity</th><th scope="col">Type</th><th scope="col" class="number">Joined to</th></tr></thead>
    <tbody>${rows.slice(0, LISTED).map((node) => html`<tr key=${node.id} class=${node.id === chosen ? "chosen" : ""}>
      <th scope="row"><button type="button" class="entity" aria-current=${node.id === chosen ? "true" : undefined} onClick=${() => choose(node.id)}>${node.stop && html`<span class="soft">${node.stop} · </span>`}${shown(node.name)}</button>
        ${communities.get(node.community) && html`<span class="unseen"> in ${shown(communities.get(node.community).title)}</span>`}</th>
      <td class="soft">${shown(node.type)}</td><td class="number">${node.degree}</td></tr>`)}</tbody>
  </table></div>`;
}
