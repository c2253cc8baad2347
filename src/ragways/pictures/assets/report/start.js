// The head at once; then section by section, so that the first is seen while the others are drawn.
by("verdict").textContent = shown(notesOf("runs")[0]);
by("title").textContent = shown(runs.map((run) => run.run).join(", "));
{
  const made = (name) => unique(runs.map((run) => run[name]).filter(Boolean)), records = runs.reduce((sum, run) => sum + run.answers, 0), failed = runs.reduce((sum, run) => sum + run.failed, 0);
  const days = made("date").sort();
  const said = [...(days.length ? [days.length > 1 ? `${days[0]} to ${days.at(-1)}` : days[0]] : []), count(data.asked, "question"), count(names.length, "paradigm"), `${count(records, "answer")} (${failed.toLocaleString("en")} failed)`,
    made("model").length ? `model ${made("model").join(", ")}` : "no language model", ...made("embedder").map((name) => `embedder ${name}`), `ragways ${made("version").join(", ") || data.ragways}`];
  by("summary").textContent = shown(said.join(" · "));
  for (const note of notesOf("runs").slice(1)) add(document.querySelector("body > header"), "p", `⚠ ${note}`, "wrong");
  for (const section of document.querySelectorAll("main > section")) {
    const link = add(document.querySelector("nav"), "a", section.querySelector("h2").textContent);
    link.href = `#${section.id}`;
  }
}
const work = [drawFigures, drawQuestions, drawTypes, drawComparisons, drawPareto, drawRouting, drawLabels, drawDuels, drawCosts, drawBreakevens, drawTimeline, drawTools];
function next() {
  const act = work.shift();
  if (!act) {
    document.body.dataset.drawn = "all";
    // What was drawn above may have moved what the address names.
    if (location.hash.includes("=")) reach();
    else if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    return;
  }
  act();
  setTimeout(next);
}
next();
let width = innerWidth, wait = 0;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  clearTimeout(wait);
  wait = setTimeout(() => { for (const act of redrawn) act(); }, 150);
});
