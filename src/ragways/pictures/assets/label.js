// One answer at a time; each label is sent as it is given.
const by = (id) => document.getElementById(id), data = JSON.parse(by("data").textContent), { tasks, values } = data;
// Text of documents and models stays text, without signs that turn a line.
const shown = (text) => String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
function add(parent, tag, text, name) {
  const element = parent.appendChild(document.createElement(tag));
  element.textContent = shown(text);
  if (name) element.className = name;
  return element;
}
const open = () => { const at = values.indexOf(null); return at < 0 ? tasks.length : at; };
let at = open(), busy = false, ended = false;
const labels = data.choices.map((value, at) => [value, value === "skip" ? "s" : String(at + 1)]), buttons = new Map(), keys = new Map();
function button(name, key, act) {
  const one = add(by("buttons"), "button", `${name} (${key})`);
  one.addEventListener("click", act);
  buttons.set(name, one);
  keys.set(key, one);
}
for (const [value, key] of labels) button(value, key, () => give(value));
button("back", "b", () => { at -= 1; show(); });
button("done", "d", finish);
addEventListener("keydown", (event) => {
  const one = event.ctrlKey || event.metaKey || event.altKey || event.repeat ? null : keys.get(event.key.toLowerCase());
  if (one && !one.disabled) one.click();
});
function show() {
  const task = tasks[at], place = by("task");
  place.replaceChildren();
  const given = values.filter((value) => value !== null).length;
  by("place").textContent = shown(`${task ? `${at + 1} of ${tasks.length}` : `all ${tasks.length} are labelled`} · ${given} labelled by ${data.by}`);
  const part = (head, texts, name) => { if (texts.length) add(place, "h2", head); for (const text of texts) add(place, "p", text, `text ${name}`); };
  if (task) { part("Question", [task.question], "question"); part("Gold answer", task.gold, "gold"); part("Evidence", task.evidence, "evidence"); part(task.other ? "First answer" : "Answer", [task.answer], "answer"); part("Second answer", task.other ? [task.other] : [], "answer"); }
  for (const [value] of labels) {
    buttons.get(value).disabled = ended || busy || !task;
    buttons.get(value).setAttribute("aria-pressed", String(Boolean(task) && values[at] === value));
  }
  buttons.get("back").disabled = ended || busy || at === 0;
  buttons.get("done").disabled = ended || busy;
}
async function send(what, body) {
  busy = true;
  show();
  try {
    const reply = await fetch(what, { method: "POST", body: JSON.stringify(body) });
    by("said").textContent = reply.ok ? "" : shown(`Not kept: ${await reply.text() || reply.status}`);
    return reply.ok;
  } catch {
    by("said").textContent = "Not kept: the command that serves this page has ended.";
    return false;
  } finally {
    busy = false;
  }
}
async function give(value) {
  if (await send("label", { at, value })) {
    values[at] = value;
    const next = values.indexOf(null, at + 1);
    at = next < 0 ? open() : next;
  }
  show();
}
async function finish() {
  ended = await send("done", {});
  show();
  if (ended) by("said").textContent = "All labels are kept. You may close this page.";
}
by("about").textContent = shown(data.about);
show();
document.body.dataset.drawn = "all";
