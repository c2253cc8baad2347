// A box that finds an entity by its name: suggestions come while one writes, and are chosen with the arrow keys or the mouse.
import { html, useEffect, useId, useRef, useState } from "../parts/html.js";
import { api, path, query } from "../parts/api.js";
import { shown } from "../parts/figures.js";
import { say } from "../parts/ui.js";

const WAIT = 140;

export function EntitySearch({ collection, label, placeholder = "", value = "", choose, hidden = false }) {
  const [text, write] = useState(value), [found, find] = useState([]), [at, move] = useState(-1), [open, show] = useState(false), [none, miss] = useState(false);
  const id = useId(), written = useRef(false), eager = useRef(false);
  // What is found comes later than the box was drawn: it goes to whoever asks then.
  const latest = useRef(choose);
  latest.current = choose;
  // Only a name that became another: the box may be written in before this effect runs for the first time.
  const before = useRef(value);
  useEffect(() => {
    if (before.current === value) return;
    before.current = value;
    written.current = false;
    write(value);
  }, [value]);
  useEffect(() => {
    if (!written.current) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { entities } = text.trim() ? await api.get(path`/collections/${collection}/entities` + query({ search: text.trim(), limit: 12 }), abort.signal) : { entities: [] };
        if (eager.current && entities.length) return take(entities[0]);
        find(entities);
        move(entities.length ? 0 : -1);
        miss(Boolean(text.trim()) && !entities.length);
        show(true);
        if (text.trim()) say(entities.length ? `${entities.length} found, the first is ${entities[0].name}` : "Nothing is called so.");
      } catch (error) {
        if (error.name !== "AbortError") find([]);
      }
      return undefined;
    }, WAIT);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [text, collection]);
  const take = (entity) => {
    written.current = eager.current = false;
    write(entity.name);
    show(false);
    latest.current(entity);
  };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length) {
      event.preventDefault();
      show(true);
      move((at + step + found.length) % found.length);
    } else if (event.key === "Enter" && open && found[at]) {
      event.preventDefault();
      take(found[at]);
    } else if (event.key === "Enter" && written.current && event.target.value.trim()) {
      event.preventDefault();
      eager.current = true;  // what is found first, as soon as it is
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      show(false);
    }
  };
  const listed = open && found.length > 0;
  return html`<div class="finder">
    <label for=${id} class=${hidden ? "unseen" : "soft small"}>${label}</label>
    <input id=${id} type="search" role="combobox" autocomplete="off" spellcheck=${false} maxlength="200" placeholder=${placeholder} value=${text}
      aria-expanded=${listed} aria-controls=${`${id}-list`} aria-autocomplete="list" aria-activedescendant=${listed && at >= 0 ? `${id}-${at}` : undefined}
      onInput=${(event) => { written.current = true; eager.current = false; write(event.target.value); }} onKeyDown=${keys} onBlur=${() => show(false)} onFocus=${() => found.length && written.current && show(true)} />
    <ul id=${`${id}-list`} role="listbox" aria-label=${`${label}: suggestions`} class="suggestions plain" hidden=${!listed}>
      ${found.map((one, n) => html`<li key=${one.id} id=${`${id}-${n}`} role="option" aria-selected=${n === at} onMouseDown=${(event) => { event.preventDefault(); take(one); }}>
        <span>${shown(one.name)}</span> <span class="soft small">${shown([one.type, `${one.degree} joined`].filter(Boolean).join(" · "))}</span>
      </li>`)}
    </ul>
    ${open && none && html`<p class="suggestions soft small none">Nothing is called so.</p>`}
  </div>`;
}
