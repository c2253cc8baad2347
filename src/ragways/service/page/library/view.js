// Library: the collections there are, and what is in one of them.
import { html, useEffect, useLoaded, useState } from "../parts/html.js";
import { api, path } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { may, refresh, useHome } from "../parts/home.js";
import { go, link } from "../parts/router.js";
import { Confirm, Empty, Field, say, Trouble } from "../parts/ui.js";
import { when } from "../parts/words.js";
import { Documents } from "./documents.js";
import { Files } from "./files.js";
import { Indexing } from "./indexing.js";

export default function Library({ collection }) {
  const { collections } = useHome();
  if (!collection) return html`<${Shelf} />`;
  const one = collections.find((each) => each.name === collection);
  if (!one) return html`<h1 class="unseen">Library</h1><${Empty} title=${`There is no collection ${shown(collection)}`}><p><a href=${link("library")}>All collections</a></p><//>`;
  return html`<${One} key=${collection} one=${one} />`;
}

function Shelf() {
  const { collections } = useHome();
  return html`<h1>Library</h1>
    <p class="soft lead">A collection is a set of documents with one index. Questions are asked of one collection at a time.</p>
    ${collections.length > 0 && html`<ul class="shelf plain">${collections.map((one) => html`<li key=${one.name}><a class="card" href=${link("library", one.name)}>
      <h2>${shown(one.name)}</h2>
      <p class="soft">${one.generation || one.documents ? `${count(one.documents, "document")}, ${count(one.chunks, "passage")}` : "not indexed yet"}</p>
      <p>${one.layers.map((layer) => html`<span class="tag" key=${layer}>${shown(layer)}</span> `)}${!one.managed && html`<span class="tag">read only</span>`}</p>
    </a></li>`)}</ul>`}
    ${may("admin") ? html`<${Create} first=${!collections.length} />` : !collections.length && html`<${Empty} title="Nothing here for this key"><p>A key with the scope admin can make collections.</p><//>`}`;
}

function Create({ first }) {
  const [name, write] = useState(""), [problem, fail] = useState(null), [busy, work] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    work(true);
    fail(null);
    try {
      await api.post("/collections", { name: name.trim() });
      await refresh();
      go("library", name.trim());
    } catch (error) {
      fail(error);
      work(false);
    }
  };
  return html`<form class="card create" onSubmit=${submit}>
    <h2>${first ? "Make the first collection" : "New collection"}</h2>
    <${Field} label="Name" value=${name} change=${write} required maxlength="64" pattern="[a-z0-9][a-z0-9._\\-]*" autocomplete="off" spellcheck=${false} help="Small letters, digits, dots, underscores and hyphens." />
    <${Trouble} problem=${problem} />
    <div class="row end"><button type="submit" class="main" disabled=${!name.trim() || busy}>Make it</button></div>
  </form>`;
}

function One({ one }) {
  const [asked, ask] = useState(false), [changes, changed] = useState(0), bump = () => changed((n) => n + 1);
  // What has buttons comes when all above it stands: else these would move away from under the pointer.
  const [told, tell] = useState(false), [listed, list] = useState(!one.managed);
  // Files and documents are fetched again after each change.
  const ended = async () => { await refresh(); bump(); };
  const remove = async () => {
    await api.remove(path`/collections/${one.name}`);
    ask(false);
    say(`${one.name} is deleted.`);
    go("library");
    await refresh();
  };
  const writes = one.managed && may("write");
  return html`<p class="crumb"><a href=${link("library")}>All collections</a></p>
    <div class="row apart">
      <h1>${shown(one.name)}</h1>
      <div class="row">
        ${one.documents > 0 && html`<a class="button main" href=${link("ask", one.name)}>Ask it</a>`}
        ${one.managed && may("admin") && html`<button type="button" class="danger" onClick=${() => ask(true)}>Delete</button>`}
      </div>
    </div>
    ${one.trouble && html`<${Trouble} problem=${{ message: "This collection cannot be asked", cure: one.trouble }} />`}
    <${Facts} one=${one} changes=${changes} stands=${() => tell(true)} />
    ${!one.managed && html`<p class="soft">Its index was given to the server by <code>--index</code> and is only read: its files are kept where it was made.</p>`}
    ${one.managed && html`<${Files} collection=${one.name} writes=${writes} changes=${changes} changed=${bump} stands=${() => list(true)} />`}
    ${writes && told && listed && html`<${Indexing} one=${one} ended=${ended} />`}
    <${Documents} collection=${one.name} changes=${changes} stands=${told && listed} />
    ${asked && html`<${Confirm} title=${`Delete ${shown(one.name)}?`} word=${one.name} verb="Delete for good" close=${() => ask(false)} act=${remove}>
      <p>${count(one.documents, "document")}, the files they came from, the index, its runs and its feedback are deleted. This cannot be taken back.</p>
    <//>`}`;
}

function Facts({ one, changes, stands }) {
  const { value, busy } = useLoaded((signal) => one.generation && !one.trouble ? api.get(path`/collections/${one.name}`, signal) : null, [one.name, one.generation, changes]);
  useEffect(() => { if (!busy) stands(); }, [busy]);
  const status = value?.status ?? {};
  const facts = [
    ["documents", one.documents.toLocaleString("en")], ["passages", one.chunks.toLocaleString("en")], ["sentences", status.counts?.sentences?.toLocaleString("en")], ["layers", one.layers.join(", ") || "none yet"],
    ["generation", one.generation || "none yet"], ["made", when(one.created)], ["embedder", status.embedder?.name ?? status.embedder], ["languages", languages(status.languages)],
    ["model", status.model],
  ];
  return html`<dl class="about">${facts.filter(([, said]) => typeof said === "number" || said).map(([name, said]) => html`<div key=${name}><dt>${name}</dt><dd>${shown(said)}</dd></div>`)}</dl>`;
}

const languages = (found) => !found ? "" : Array.isArray(found) ? found.join(", ") : Object.entries(found).map(([name, n]) => `${name} (${n})`).join(", ");
