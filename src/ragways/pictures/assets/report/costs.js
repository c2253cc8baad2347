// What answers take, and the tools they call.
function drawCosts() {
  const some = (of) => rows.some((row) => known(of(row)) && of(row) !== 0);
  const columns = [
    ["answers", "answers that did not fail", (row) => row.answered, whole], ["failed", "what these cost is not in the figures", (row) => row.failed, whole],
    ["from our cache", "answers with replies from our cache: their seconds are in no figure", (row) => row.untimed, whole],
    ["seconds p50", "half of the answers took no longer", (row) => row.seconds_p50, amount], ["seconds p95", "19 of 20 answers took no longer", (row) => row.seconds_p95, amount],
    ["CPU s", "CPU seconds of an answer", (row) => row.cpu, amount], ["most memory", "in memory at most while it was at work", (row) => row.peak_memory, bytes],
    ["evidence tokens", "tokens of evidence shown to the model", (row) => row.evidence, whole], ["model calls", "per answer", (row) => row.calls, amount],
    ["tokens in", "per answer", (row) => row.input, whole], ["tokens out", "per answer", (row) => row.output, whole],
    ["reasoning", "part of the tokens out", (row) => row.reasoning, whole], ["tokens of retrieval", "per answer", (row) => row.retrieval_tokens, whole],
    ["tokens of generation", "per answer", (row) => row.generation_tokens, whole], ["USD", "per answer", (row) => row.usd, amount],
    ["index tokens", "to build the layers it needs, all of them", (row) => row.index_tokens, whole],
    ["index tokens each", "the same, shared out over the questions", (row) => row.index_tokens_each, amount],
    ["index USD each", "to build the layers it needs, shared out over the questions", (row) => row.index_usd_each, amount],
  ].filter(([label, , of]) => label === "failed" || some(of));
  grid(by("costs"), "What an answer takes, by paradigm; columns that are 0 throughout are left out", [paradigm(), ...columns.map(([label, title, of, show]) => ({ label, title, value: (row) => of(row) ?? null, show }))], rows);
}
function drawBreakevens() {
  const section = part("breakevens");
  if (!section) return;
  grid(section, `Layers that the other does not need; cost of building them set off against what each question saves`, [
    { label: "paradigm", value: (row) => row.paradigm }, { label: "against", value: (row) => row.against },
    { label: "layers", value: (row) => row.layers },
    { label: "to build", title: "less what the other's own layers cost", value: (row) => row.construction, show: amount },
    { label: "saved each", title: "per question", value: (row) => row.saved, show: amount },
    { label: "pays after", title: "questions", value: (row) => row.questions, show: (value) => known(value) ? `${whole(value)} questions` : "never" },
    { label: "in words", value: (row) => row.words },
  ], rowsOf("breakevens"), { wrap: true });
}
function drawTools() {
  const section = part("tools");
  if (!section) return;
  const calls = rowsOf("tools"), tools = unique(calls.map((row) => row.tool)).sort(), most = Math.max(...calls.map((row) => row.each));
  const some = unique(calls.map((row) => row.paradigm)).map((name) => ({ paradigm: name, calls: Object.fromEntries(calls.filter((row) => row.paradigm === name).map((row) => [row.tool, row])) }));
  const all = (row) => Object.values(row.calls).reduce((sum, one) => sum + one.each, 0);
  grid(section, "Calls of each tool per answer, and in all", [
    paradigm(), { label: "answers", value: (row) => Object.values(row.calls)[0].answers },
    ...tools.map((tool) => ({ label: tool.replaceAll("_", "_\u200b"), title: tool, value: (row) => row.calls[tool]?.each ?? 0, cell: (row) => {
      const one = row.calls[tool];
      if (!one?.calls) return html`<span class="soft">0</span>`;
      const spread = one.spread.split(", ").map((answers, times) => `${times} calls: ${answers} answers`).join("\n");
      return html`<span class="value" title=${spread}>${one.each.toFixed(2)}</span>
        <svg class="bar" width="92" height="8" viewBox="0 0 92 8" aria-hidden="true"><rect class=${colourOf(row.paradigm)} x="0" y="1" width=${Math.max(1.5, one.each / most * 92)} height="6" rx="2" /></svg>
        <small>${one.calls.toLocaleString("en")} in all</small>`;
    } })),
    { label: "all tools", value: all, show: (value) => value.toFixed(2) },
  ], some, { sort: tools.length + 2, wrap: true });
}
