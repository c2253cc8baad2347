// The shell: navigation, the choice of a collection, the key, and the view that the address names.
import { html, render, useEffect, useErrorBoundary, useRef, useState, useStore } from "./parts/html.js";
import { key, wanted } from "./parts/api.js";
import { refresh, useHome } from "./parts/home.js";
import { DocumentPanel } from "./parts/document.js";
import { go, link, route } from "./parts/router.js";
import { Choice, Dialog, Empty, Field, Trouble, Voice, Waiting } from "./parts/ui.js";
import { shown } from "./parts/figures.js";

// A view is a module whose default export is a component of { collection, rest, query }; its files are fetched when it is first opened.
// `free` views also stand without a collection.
const VIEWS = [
  { name: "ask", title: "Ask", load: () => import("./ask/view.js"), style: "ask/ask.css" },
  { name: "compare", title: "Compare", load: () => import("./compare/view.js"), style: "compare/compare.css" },
  { name: "library", title: "Library", load: () => import("./library/view.js"), style: "library/library.css", free: true },
  { name: "graph", title: "Graph", load: () => import("./graph/view.js"), style: "graph/graph.css" },
  { name: "evaluate", title: "Evaluate", load: () => import("./evaluate/view.js"), style: ["parts/parts.css", "evaluate/evaluate.css"] },
];

const loaded = new Map();
function fetched(view) {
  if (!loaded.has(view.name)) {
    const styles = [view.style].flat().map((style) => new Promise((resolve, reject) => {
      const sheet = document.createElement("link");
      sheet.rel = "stylesheet";
      sheet.href = new URL(style, import.meta.url).href;
      sheet.onload = resolve;
      sheet.onerror = reject;
      document.head.append(sheet);
    }));
    const both = Promise.all([view.load(), ...styles]).then(([module]) => module.default);
    both.catch(() => loaded.delete(view.name));
    loaded.set(view.name, both);
  }
  return loaded.get(view.name);
}

function KeyDialog() {
  const asked = useStore(wanted), [typed, type] = useState("");
  if (!asked) return null;
  const submit = (event) => {
    event.preventDefault();
    if (!typed.trim()) return;
    asked.answer(typed.trim());
    type("");
  };
  return html`<${Dialog} title="A key, please" closable=${false}>
    <form onSubmit=${submit}>
      ${asked.refused && html`<p class="trouble" role="alert">That key is not known here, or was withdrawn.</p>`}
      <p>This server asks for a key. Whoever runs it makes one with <code>ragways key add</code>.</p>
      <${Field} label="Key" type="password" value=${typed} change=${type} autocomplete="off" required help="Kept in this tab only, until it is closed." />
      <div class="row end"><button type="submit" class="main">Use this key</button></div>
    </form>
  <//>`;
}

function Bar({ view, collection }) {
  const { collections, me } = useHome();
  const names = (collections ?? []).map((one) => one.name);
  const forget = () => { key.set(""); location.reload(); };
  return html`<header class="bar">
    <a class="brand" href=${link("ask", collection)}><svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true"><path d="M3 13V7a4 4 0 0 1 4-4h6M3 9h6a4 4 0 0 1 4 4" /></svg>ragways</a>
    <nav aria-label="Views"><ul>
      ${VIEWS.map((one) => html`<li key=${one.name}><a href=${link(one.name, collection)} aria-current=${one.name === view?.name ? "page" : undefined}>${one.title}</a></li>`)}
    </ul></nav>
    <div class="who">
      ${names.length > 0 && html`<${Choice} label="Collection" hidden value=${names.includes(collection) ? collection : ""} change=${(name) => go(view?.name ?? "ask", name)}
        options=${names.includes(collection) ? names : [["", "choose a collection"], ...names]} />`}
      ${key.get() && me && html`<button type="button" class="quiet" onClick=${forget} title=${`Signed in for ${shown(me.tenant)}`}>Forget key</button>`}
    </div>
  </header>`;
}

function Guarded({ children }) {
  const [error, again] = useErrorBoundary();
  return error ? html`<${Trouble} problem=${{ message: "This view failed", cure: String(error.message ?? error) }} again=${again} />` : children;
}

function Place({ view, collection, rest, query }) {
  const { collections, problem } = useHome();
  const [state, set] = useState({ view: null, part: null, problem: null });
  const [round, again] = useState(0);
  useEffect(() => {
    let current = true;
    fetched(view).then(
      (part) => current && set({ view, part, problem: null }),
      () => current && set({ view, part: null, problem: { message: "A part of the page could not be fetched", cure: "The server may have been renewed: load the page again." } }),
    );
    return () => { current = false; };
  }, [view, round]);
  const Part = state.view === view ? state.part : null;
  const ready = Part && collections;
  useEffect(() => { if (ready || problem) document.body.dataset.drawn = "all"; }, [ready, problem]);
  if (state.view === view && state.problem) return html`<${Trouble} problem=${state.problem} again=${() => again(round + 1)} />`;
  if (problem && !collections) return html`<${Trouble} problem=${problem} again=${refresh} />`;
  if (!ready) return html`<${Waiting} />`;
  if (!view.free && !collections.some((one) => one.name === collection)) return html`<${NoCollection} view=${view} name=${collection} />`;
  return html`<${Guarded} key=${`${view.name}/${collection}`}><${Part} collection=${collection} rest=${rest} query=${query} /><//>`;
}

function NoCollection({ view, name }) {
  const { collections } = useHome();
  if (!collections.length) {
    return html`<h1 class="unseen">${view.title}</h1><${Empty} title="Nothing to ask yet">
      <p>A collection is a set of documents with one index. Make the first one in the library and drag your files in.</p>
      <p><a class="button main" href=${link("library")}>Open the library</a></p>
    <//>`;
  }
  return html`<h1 class="unseen">${view.title}</h1><${Empty} title=${name ? `There is no collection ${shown(name)}` : "Which collection?"}>
    <ul class="plain choices">${collections.map((one) => html`<li key=${one.name}><a class="button" href=${link(view.name, one.name)}>${shown(one.name)}</a></li>`)}</ul>
  <//>`;
}

function Page() {
  const { view: name, collection, rest, query } = useStore(route);
  const { collections } = useHome();
  const view = VIEWS.find((one) => one.name === name);
  const first = useRef(true), main = useRef(null);
  useEffect(() => { refresh(); }, []);
  // An address without a view or a collection is completed where there is one choice, or one made before.
  useEffect(() => {
    if (!view) return location.replace(link("ask", collection));
    const known = (collections ?? []).map((one) => one.name);
    if (collection && known.includes(collection)) sessionStorage.setItem("ragways-collection", collection);
    else if (!collection && !view.free && known.length) {
      const last = sessionStorage.getItem("ragways-collection");
      if (known.includes(last) || known.length === 1) location.replace(link(view.name, known.includes(last) ? last : known[0]));
    }
    return undefined;
  }, [view, collection, collections]);
  useEffect(() => {
    document.title = [view?.title, collection, "ragways"].filter(Boolean).map(shown).join(" · ");
    if (!first.current) main.current.focus();
    first.current = false;
  }, [view]);
  return html`
    <button type="button" class="skip" onClick=${() => main.current.focus()}>Skip to the content</button>
    <${Bar} view=${view} collection=${collection} />
    <main id="main" tabindex="-1" data-view=${view?.name} ref=${main} aria-label=${view?.title}>${view && html`<${Place} view=${view} collection=${collection} rest=${rest} query=${query} />`}</main>
    <${DocumentPanel} />
    <${KeyDialog} />
    <${Voice} />`;
}

render(html`<${Page} />`, document.getElementById("page"));
