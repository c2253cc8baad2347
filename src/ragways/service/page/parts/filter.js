// A filter by metadata or date, put together from a field, a test and a value, or written by hand.
import { html, useLoaded, useState } from "./html.js";
import { api, path } from "./api.js";
import { Choice, Field } from "./ui.js";

const ALWAYS = ["date", "path", "title", "format"], OTHER = "another …", LOOKED_AT = 100;
const TESTS = [["=", "is"], ["~", "contains"], [">=", "from"], ["<=", "until"], ["!=", "is not"]];

// A name or value as the filter language writes it: in quotes unless it is a plain word.
const WORDS = new Set(["and", "or", "not", "in", "has"]);
export const quoted = (text) => /^[\w.-]+$/.test(text) && !WORDS.has(text.toLowerCase()) ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
export const joined = (where, more) => where.trim() ? `${where.trim()} and ${more}` : more;

// Fields that documents of the collection have, as far as a look at some of them tells.
async function fields(collection, signal) {
  const { documents } = await api.get(path`/collections/${collection}/documents` + `?limit=${LOOKED_AT}`, signal);
  return [...new Set([...ALWAYS, ...documents.flatMap((one) => Object.keys(one.metadata ?? {})).sort()])];
}

export function Filter({ collection, where, change }) {
  const { value: known } = useLoaded((signal) => fields(collection, signal), [collection]);
  const [field, setField] = useState("date"), [own, setOwn] = useState(""), [test, setTest] = useState(">="), [value, setValue] = useState("");
  const name = field === OTHER ? own.trim() : field;
  const add = (event) => {
    event.preventDefault();
    if (!name || !value.trim()) return;
    change(joined(where, `${quoted(name)} ${test} ${quoted(value.trim())}`));
    setValue("");
  };
  const pick = (next) => { setField(next); setTest(next === "date" ? ">=" : next === "path" || next === "title" ? "~" : "="); };
  return html`<div class="filter">
    <form class="row" onSubmit=${add} aria-label="Add a condition">
      <${Choice} label="Documents whose" value=${field} options=${[...(known ?? ALWAYS), OTHER]} change=${pick} />
      ${field === OTHER && html`<${Field} label="Field" hidden value=${own} change=${setOwn} maxlength="100" />`}
      <${Choice} label="Test" hidden value=${test} options=${TESTS} change=${setTest} />
      <${Field} label="Value" hidden value=${value} change=${setValue} placeholder=${field === "date" ? "2024-05" : ""} maxlength="300" />
      <button type="submit" disabled=${!name || !value.trim()}>Add</button>
    </form>
    <${Field} label="Filter" value=${where} change=${change} maxlength="2000" spellcheck=${false} placeholder='date>2020 and path~"api/"' help="Conditions are joined by and, or, not and parentheses. Empty: all documents." />
  </div>`;
}
