// A filter by metadata or date, put together from a field, a test and a value, or written by hand.
import { html, useState } from "./html.js";
import { Choice, Field } from "./ui.js";

const FIELDS = ["date", "path", "title", "language", "author", "format", "another …"];
const TESTS = [["=", "is"], ["~", "contains"], [">=", "from"], ["<=", "until"], ["!=", "is not"]];

// A name or value as the filter language writes it: in quotes unless it is a plain word.
const WORDS = new Set(["and", "or", "not", "in", "has"]);
export const quoted = (text) => /^[\w.-]+$/.test(text) && !WORDS.has(text.toLowerCase()) ? text : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
export const joined = (where, more) => where.trim() ? `${where.trim()} and ${more}` : more;

export function Filter({ where, change }) {
  const [field, setField] = useState("date"), [own, setOwn] = useState(""), [test, setTest] = useState(">="), [value, setValue] = useState("");
  const name = field === "another …" ? own.trim() : field;
  const add = (event) => {
    event.preventDefault();
    if (!name || !value.trim()) return;
    change(joined(where, `${quoted(name)} ${test} ${quoted(value.trim())}`));
    setValue("");
  };
  const pick = (next) => { setField(next); setTest(next === "date" ? ">=" : next === "path" || next === "title" ? "~" : "="); };
  return html`<div class="filter">
    <form class="row" onSubmit=${add} aria-label="Add a condition">
      <${Choice} label="Documents whose" value=${field} options=${FIELDS} change=${pick} />
      ${field === "another …" && html`<${Field} label="Field" hidden value=${own} change=${setOwn} maxlength="100" />`}
      <${Choice} label="Test" hidden value=${test} options=${TESTS} change=${setTest} />
      <${Field} label="Value" hidden value=${value} change=${setValue} placeholder=${field === "date" ? "2024-05" : ""} maxlength="300" />
      <button type="submit" disabled=${!name || !value.trim()}>Add</button>
    </form>
    <${Field} label="Filter" value=${where} change=${change} maxlength="2000" spellcheck=${false} placeholder='date>2020 and path~"api/"' help="Conditions are joined by and, or, not and parentheses. Empty: all documents." />
  </div>`;
}
