// What answers take, and the tools they call.
function drawCosts() {
  const some = (of) => rows.some((row) => known(of(row)) && of(row) !== 0);
  const columns = [
    ["answers", "answers that did not fail", (row) => row.resources.answered, whole], ["failed", "what these cost is not in the figures", (row) => row.failed, whole],
    ["from our cache", "answers with replies from our cache: their seconds are in no figure", (row) => row.resources.untimed, whole],
    ["seconds p50", "half of the answers took no longer", (row) => row.resources.seconds_p50, amount], ["seconds p95", "19 of 20 answers took no longer", (row) => row.resources.seconds_p95, amount],
    ["CPU s", "CPU seconds of an answer", (row) => row.resources.cpu, amount], ["most memory", "in memory at most while it was at work", (row) => row.resources.peak_memory, bytes],
    ["evidence tokens", "tokens of evidence shown to the model", (row) => row.resources.evidence, whole], ["model calls", "per answer", (row) => row.resources.total.calls, amount],
    ["tokens in", "per answer", (row) => row.resources.total.input, whole], ["tokens out", "per answer", (row) => row.resources.total.output, whole],
    ["reasoning", "part of the tokens out", (row) => row.resources.total.reasoning, whole], ["tokens of retrieval", "per answer", (row) => row.resources.retrieval?.tokens, whole],
    ["tokens of generation", "per answer", (row) => row.resources.generation?.tokens, whole], ["USD", "per answer", (row) => row.resources.total.usd, amount],
    ["index tokens", "to build the layers it needs, all of them", (row) => row.resources.construction?.tokens, whole],
    ["index tokens each", "the same, shared out over the questions", (row) => row.resources.construction?.tokens_per_question, amount],
    ["index USD each", "to build the layers it needs, shared out over the questions", (row) => row.resources.construction?.usd_per_question, amount],
  ].filter(([label, , of]) => label === "failed" || some(of));
  grid(by("costs"), "What an answer takes, by paradigm; columns that are 0 throughout are left out", [paradigm(), ...columns.map(([label, title, of, show]) => ({ label, title, value: (row) => of(row) ?? null, show }))], rows);
}
function drawBreakevens() {
  const section = part("breakevens");
  if (!section) return;
  grid(section, `Layers that the other does not need, by ${data.breakevens.metric}; cost of building them set off against what each question saves`, [
    { label: "paradigm", value: (row) => row.paradigm }, { label: "against", value: (row) => row.against },
    { label: "layers", value: (row) => row.layers.join(", ") },
    { label: "to build", title: "less what the other's own layers cost", value: (row) => row.construction, show: amount },
    { label: "saved each", title: "per question", value: (row) => row.saved, show: amount },
    { label: "pays after", title: "questions", value: (row) => row.questions, show: (value) => known(value) ? `${whole(value)} questions` : "never" },
    { label: "in words", value: (row) => row.words },
  ], data.breakevens.lines, { wrap: true });
}
function drawTools() {
  const section = part("tools");
  if (!section) return;
  const tools = [...new Set(data.tools.flatMap((row) => Object.keys(row.calls)))].sort(), most = Math.max(...data.tools.flatMap((row) => Object.values(row.calls).map((calls) => calls / row.answers)));
  grid(section, "Calls of each tool per answer, and in all", [
    paradigm(), { label: "answers", value: (row) => row.answers },
    ...tools.map((tool) => ({ label: tool.replaceAll("_", "_\u200b"), title: tool, value: (row) => (row.calls[tool] ?? 0) / row.answers, cell: (row) => {
      const calls = row.calls[tool] ?? 0;
      if (!calls) return html`<span class="soft">0</span>`;
      const spread = row.distribution[tool].map((answers, times) => `${times} calls: ${answers.toLocaleString("en")} answers`).join("\n");
      return html`<span class="value" title=${spread}>${(calls / row.answers).toFixed(2)}</span>
        <svg class="bar" width="92" height="8" viewBox="0 0 92 8" aria-hidden="true"><rect class=${colourOf(row.paradigm)} x="0" y="1" width=${Math.max(1.5, calls / row.answers / most * 92)} height="6" rx="2" /></svg>
        <small>${calls.toLocaleString("en")} in all</small>`;
    } })),
    { label: "all tools", value: (row) => Object.values(row.calls).reduce((sum, calls) => sum + calls, 0) / row.answers, show: (value) => value.toFixed(2) },
  ], data.tools, { sort: tools.length + 2, wrap: true });
}
