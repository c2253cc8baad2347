// Small parts that all views share: troubles, waiting, dialogs, choices, and a voice for screen readers.
import { html, store, useId, useLayoutEffect, useRef, useState, useStore } from "./html.js";
import { shown } from "./figures.js";

// What changed without the focus moving there is said once, politely.
const spoken = store("");
export function say(text) {
  spoken.set("");
  setTimeout(() => spoken.set(shown(text)), 50);
}
export function Voice() {
  return html`<div class="unseen" role="status" aria-live="polite" id="voice">${useStore(spoken)}</div>`;
}

// An error with its cure and its id; `again` offers to try once more.
export function Trouble({ problem, again, children }) {
  if (!problem) return null;
  return html`<div class="trouble" role="alert">
    <p><strong>${shown(problem.message)}</strong></p>
    ${problem.cure && html`<p>${shown(problem.cure)}</p>`}
    ${problem.id && html`<p class="soft small">Request <code>${shown(problem.id)}</code></p>`}
    ${again && html`<button type="button" onClick=${again}>Try again</button>`}
    ${children}
  </div>`;
}

export function Waiting({ children = "Loading …" }) {
  return html`<p class="waiting soft" role="status">${children}</p>`;
}

// Where there is nothing yet: what this place is for, and what to do.
export function Empty({ title, children }) {
  return html`<div class="empty"><h2>${title}</h2>${children}</div>`;
}

// A native modal dialog: the browser keeps the focus inside, closes it on Escape and gives the focus back.
export function Dialog({ title, close, kind = "", children, closable = true }) {
  const box = useRef(null), id = useId();
  useLayoutEffect(() => {
    const element = box.current, before = document.activeElement;
    element.showModal();
    return () => {
      element.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  const cancel = (event) => {
    event.preventDefault();
    if (closable) close();
  };
  const outside = (event) => { if (closable && event.target === box.current) close(); };
  return html`<dialog ref=${box} class=${`dialog ${kind}`} aria-labelledby=${id} onCancel=${cancel} onClick=${outside}>
    <div class="inside">
      <header>
        <h2 id=${id}>${shown(title)}</h2>
        ${closable && html`<button type="button" class="quiet close" aria-label="Close" onClick=${close}>✕</button>`}
      </header>
      ${children}
    </div>
  </dialog>`;
}

// Options are names or [name, label]; groups are { group, options }.
export function Choice({ label, value, options, change, hidden = false, disabled = false }) {
  const id = useId();
  const option = (one) => {
    const [name, said] = Array.isArray(one) ? one : [one, one];
    return html`<option key=${name} value=${name} selected=${name === value}>${shown(said)}</option>`;
  };
  return html`<span class="choice">
    <label for=${id} class=${hidden ? "unseen" : ""}>${label}</label>
    <select id=${id} value=${value} disabled=${disabled} onChange=${(event) => change(event.target.value)}>
      ${options.map((one) => one.group ? html`<optgroup key=${one.group} label=${one.group}>${one.options.map(option)}</optgroup>` : option(one))}
    </select>
  </span>`;
}

export function Field({ label, value, change, type = "text", help = "", hidden = false, ...more }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id} class=${hidden ? "unseen" : ""}>${label}</label>
    <input id=${id} type=${type} value=${value} onInput=${(event) => change(event.target.value)} aria-describedby=${help ? `${id}-help` : undefined} ...${more} />
    ${help && html`<p class="soft small" id=${`${id}-help`}>${help}</p>`}
  </div>`;
}

// A bar that tells how far something is; without a total it only says that something goes on.
export function Progress({ label, done, total }) {
  return html`<progress aria-label=${label} max=${total || undefined} value=${total ? done : undefined}></progress>`;
}

// What must not happen by a slip: the name has to be typed.
export function Confirm({ title, word, verb, close, act, children }) {
  const [typed, type] = useState(""), [problem, fail] = useState(null), [busy, work] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (typed !== word || busy) return;
    work(true);
    try {
      await act();
    } catch (error) {
      fail(error);
      work(false);
    }
  };
  return html`<${Dialog} title=${title} close=${close}>
    <form onSubmit=${submit}>
      ${children}
      <${Field} label=${`Type ${word} to confirm`} value=${typed} change=${type} autocomplete="off" spellcheck=${false} />
      <${Trouble} problem=${problem} />
      <div class="row end">
        <button type="button" onClick=${close}>Cancel</button>
        <button type="submit" class="danger" disabled=${typed !== word || busy}>${verb}</button>
      </div>
    </form>
  <//>`;
}
