// Files of a collection: dragged in or chosen, each with its progress; listed with what became of them; removed.
import { html, useEffect, useLoaded, useRef, useState } from "../parts/html.js";
import { api, path, query, upload } from "../parts/api.js";
import { count, shown } from "../parts/figures.js";
import { Field, Progress, say, Trouble } from "../parts/ui.js";
import { size } from "../parts/words.js";

const AT_ONCE = 3, PAGE = 50;
const STATES = { new: ["mark", "waits for indexing"], changed: ["mark", "changed, waits for indexing"], indexed: ["good", "indexed"], failed: ["bad", "could not be read"] };

// Files of what was dropped, folders gone through: [name, file].
async function dropped(items) {
  const found = [];
  const visit = async (entry, above) => {
    const name = above + entry.name;
    if (entry.isFile) found.push([name, await new Promise((resolve, reject) => entry.file(resolve, reject))]);
    else {
      const reader = entry.createReader();
      for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some.length) break;
        for (const one of some) await visit(one, `${name}/`);
      }
    }
  };
  for (const entry of [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean)) await visit(entry, "");
  return found;
}

const visible = ([name]) => !name.split("/").some((part) => part.startsWith("."));

export function Files({ collection, writes, changes, changed, stands }) {
  const [queue, setQueue] = useState([]), [over, hover] = useState(false), [note, tell] = useState("");
  const waiting = useRef([]), running = useRef(0), abort = useRef(new AbortController()), chosen = useRef(null), folder = useRef(null);
  useEffect(() => () => abort.current.abort(), []);
  const change = (name, values) => setQueue((old) => old.map((one) => one.name === name ? { ...one, ...values } : one));
  const next = () => {
    while (running.current < AT_ONCE && waiting.current.length) send(waiting.current.shift());
    if (!running.current && !waiting.current.length) changed();
  };
  const send = async ({ name, file }) => {
    running.current += 1;
    change(name, { state: "sends" });
    try {
      await upload(path`/collections/${collection}/files/${name.split("/")}`, file, { signal: abort.current.signal, progress: (done) => change(name, { done }) });
      change(name, { state: "sent", done: file.size });
    } catch (error) {
      if (error.name !== "AbortError") change(name, { state: "failed", problem: error });
    }
    running.current -= 1;
    if (!abort.current.signal.aborted) next();
  };
  const add = (found) => {
    const seen = found.filter(visible).map(([name, file]) => ({ name, file, done: 0, total: file.size, state: "waits" }));
    const hidden = found.length - seen.length;
    tell(hidden ? `${count(hidden, "hidden file")} left out.` : "");
    say(`${count(seen.length, "file")} to upload.`);
    setQueue((old) => [...old.filter((one) => one.state !== "sent" && !seen.some((each) => each.name === one.name)), ...seen]);
    waiting.current.push(...seen);
    next();
  };
  const pick = (event) => {
    add([...event.target.files].map((file) => [file.webkitRelativePath || file.name, file]));
    event.target.value = "";
  };
  const drop = async (event) => {
    event.preventDefault();
    hover(false);
    add(await dropped(event.dataTransfer.items));
  };
  const drag = (event) => { event.preventDefault(); hover(true); };
  return html`<section aria-labelledby="files-title">
    <h2 id="files-title">Files</h2>
    ${writes && html`<div class=${`drop ${over ? "over" : ""}`} onDragOver=${drag} onDragEnter=${drag} onDragLeave=${() => hover(false)} onDrop=${drop}>
      <p><strong>Drag files or folders here</strong></p>
      <p class="soft small">Text, Markdown, HTML, PDF, Word, tables, slides, e-books, e-mail, code. A file of the same name is replaced.</p>
      <div class="row">
        <button type="button" onClick=${() => chosen.current.click()}>Choose files</button>
        <button type="button" onClick=${() => folder.current.click()}>Choose a folder</button>
        <input ref=${chosen} type="file" multiple hidden aria-label="Files" onChange=${pick} />
        <input ref=${folder} type="file" multiple webkitdirectory hidden aria-label="Folder" onChange=${pick} />
      </div>
    </div>`}
    ${note && html`<p class="soft small">${note}</p>`}
    <${Queue} queue=${queue} clear=${() => setQueue([])} again=${(one) => { waiting.current.push(one); change(one.name, { state: "waits", problem: null }); next(); }} />
    <${List} collection=${collection} writes=${writes} changes=${changes} changed=${changed} stands=${stands} />
  </section>`;
}

function Queue({ queue, clear, again }) {
  if (!queue.length) return null;
  const sent = queue.filter((one) => one.state === "sent").length, failed = queue.filter((one) => one.state === "failed").length;
  const shownOnes = [...queue].sort((a, b) => order(a) - order(b)).slice(0, 100);
  return html`<div class="queue card" aria-label="Uploads" role="group">
    <div class="row apart"><p role="status">${sent} of ${count(queue.length, "file")} sent${failed > 0 && `, ${failed} refused`}</p>
      ${sent + failed === queue.length && html`<button type="button" class="quiet" onClick=${clear}>Clear</button>`}</div>
    <ul class="plain">${shownOnes.map((one) => html`<li key=${one.name}>
      <div class="row apart"><span class="path">${shown(one.name)}</span><span class="soft small">${one.state === "sent" ? "sent" : one.state === "failed" ? "refused" : `${size(one.done)} of ${size(one.total)}`}</span></div>
      ${one.state === "sends" && html`<${Progress} label=${`Upload of ${shown(one.name)}`} done=${one.done} total=${one.total} />`}
      ${one.problem && html`<${Trouble} problem=${one.problem} again=${() => again(one)} />`}
    </li>`)}</ul>
  </div>`;
}
const order = (one) => ["failed", "sends", "waits", "sent"].indexOf(one.state);

// `stands` is called when it is drawn for the first time.
function List({ collection, writes, changes, changed, stands }) {
  const [search, find] = useState(""), [offset, turn] = useState(0), [problem, fail] = useState(null);
  const { value, problem: unread, busy, again } = useLoaded(
    (signal) => api.get(path`/collections/${collection}/files` + query({ offset, limit: PAGE, search }), signal), [collection, offset, search, changes],
  );
  useEffect(() => { if (!busy) stands(); }, [busy]);
  const last = useRef(null);
  if (value) last.current = value;
  const page = value ?? last.current;
  const remove = async (file) => {
    try {
      await api.remove(path`/collections/${collection}/files/${file.path.split("/")}`);
      say(`${file.path} is removed. Index again to have its text gone from answers.`);
      fail(null);
      changed();
    } catch (error) {
      fail(error);
    }
  };
  if (unread) return html`<${Trouble} problem=${unread} again=${again} />`;
  if (!page) return null;
  if (!page.total && !search) return html`<p class="soft">No files yet.</p>`;
  return html`<div class="list">
    ${(page.total > 8 || search) && html`<${Field} label="Find a file" type="search" value=${search} change=${(text) => { find(text); turn(0); }} maxlength="200" />`}
    <${Trouble} problem=${problem} />
    <div class="frame" tabindex="0" role="region" aria-label="Files of the collection"><table>
      <thead><tr><th scope="col">File</th><th scope="col" class="number">Size</th><th scope="col">State</th>${writes && html`<th scope="col"><span class="unseen">Remove</span></th>`}</tr></thead>
      <tbody>${page.files.map((file) => html`<tr key=${file.path}>
        <th scope="row" class="path">${shown(file.path)}${file.reason && html`<p class="reason small">${shown(file.reason)}</p>`}</th>
        <td class="number">${size(file.size)}</td>
        <td><span class=${`tag ${STATES[file.state]?.[0] ?? ""}`}>${STATES[file.state]?.[1] ?? shown(file.state)}</span></td>
        ${writes && html`<td class="number"><button type="button" class="quiet" aria-label=${`Remove ${shown(file.path)}`} onClick=${() => remove(file)}>Remove</button></td>`}
      </tr>`)}</tbody>
    </table></div>
    <${Pages} offset=${offset} total=${page.total} turn=${turn} noun="file" />
  </div>`;
}

export function Pages({ offset, total, turn, noun }) {
  if (total <= PAGE) return html`<p class="soft small">${count(total, noun)}</p>`;
  return html`<nav class="row pages" aria-label=${`Pages of ${noun}s`}>
    <button type="button" disabled=${offset === 0} onClick=${() => turn(Math.max(0, offset - PAGE))}>Earlier</button>
    <span class="soft small">${offset + 1} to ${Math.min(offset + PAGE, total)} of ${count(total, noun)}</span>
    <button type="button" disabled=${offset + PAGE >= total} onClick=${() => turn(offset + PAGE)}>Later</button>
  </nav>`;
}
