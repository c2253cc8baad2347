// Judges against people: their agreement, and means that labels correct.
function drawLabels() {
  const section = part("labels");
  if (!section) return;
  const range = (low, high) => known(low) && known(high) ? `${fixed(low, 2)} to ${fixed(high, 2)}` : "–";
  const kappas = (head, name) => [
    { label: head, head: true, value: name }, { label: "kappa", title: "linear weights: 1 is full agreement, 0 what chance gives", value: (one) => one.kappa.kappa, show: (value) => known(value) ? fixed(value, 2) : "–" },
    { label: "95 % interval", value: (one) => one.kappa.low, cell: (one) => range(one.kappa.low, one.kappa.high) },
    { label: "same verdict", value: (one) => one.kappa.agreed, show: (value) => known(value) ? `${Math.round(value * 100)}\u00a0%` : "–" },
    { label: "answers", value: (one) => one.kappa.n, show: whole }, { label: "note", text: true, value: (one) => one.kappa.why },
  ];
  for (const own of data.labels) {
    const place = add(section, "div");
    add(place, "h3", `${data.runs.length > 1 ? `${own.run}: ` : ""}${own.about}`);
    add(place, "p", `${Object.entries(own.counts).map(([value, number]) => `${whole(number)} ${value}`).join(", ")}; by ${own.labellers.join(", ")}.${own.outdated ? ` ${count(own.outdated, "label")} of answers that have been replaced since: in no figure.` : ""}`);
    add(place, "p", "A value counts as wrong below 0.25, as right from 0.75, as partly right between.", "soft");
    grid(place, "Agreement of metrics with people", kappas("metric", (one) => one.metric), own.judges);
    if (own.people.length) grid(place, "Agreement of people with each other", kappas("labellers", (one) => `${one.a}, ${one.b}`), own.people);
    add(place, "p", "Corrected: what the mean would be had people labelled every answer, from the judge’s values of all and the labels of some (prediction-powered inference).", "soft");
    grid(place, "Means, and corrected by labels", [
      { label: "paradigm", head: true, value: (one) => one.paradigm, cell: (one) => nameOf(one.paradigm) }, { label: "metric", text: true, value: (one) => one.metric },
      { label: "judge’s mean", value: (one) => one.figure.raw, show: figure }, { label: "corrected", value: (one) => one.figure.mean, show: figure },
      { label: "95 % interval", value: (one) => one.figure.low, cell: (one) => range(one.figure.low, one.figure.high) },
      { label: "labels alone", value: (one) => one.figure.labels, show: figure }, { label: "their interval", value: (one) => one.figure.labels_low, cell: (one) => range(one.figure.labels_low, one.figure.labels_high) },
      { label: "labelled", value: (one) => one.figure.labelled, cell: (one) => `${whole(one.figure.labelled)} of ${whole(one.figure.n)}` },
      { label: "weight", title: "how much the judge counts in the corrected mean", value: (one) => one.figure.weight, show: figure }, { label: "note", text: true, value: (one) => one.figure.why },
    ], own.means, { most: 30 });
  }
}
