// Judges against people: their agreement, and means that labels correct.
function drawLabels() {
  const section = part("labels");
  if (!section) return;
  const range = (low, high) => known(low) && known(high) ? `${fixed(low, 2)} to ${fixed(high, 2)}` : "–";
  const whose = [{ label: "run", text: true, value: (one) => one.run }, { label: "labels of", text: true, value: (one) => one["labels of"] }];
  for (const note of notesOf("labels")) add(section, "p", note, "soft");
  grid(section, "Agreement with people", [
    { label: "by", head: true, value: (one) => one.of }, ...whose, { label: "kappa", title: "linear weights: 1 is full agreement, 0 what chance gives", value: (one) => one.kappa, show: (value) => known(value) ? fixed(value, 2) : "–" },
    { label: "95 % interval", value: (one) => one.low, cell: (one) => range(one.low, one.high) },
    { label: "same verdict", value: (one) => one.agreed, show: (value) => known(value) ? `${Math.round(value * 100)}\u00a0%` : "–" },
    { label: "answers", value: (one) => one.n, show: whole }, { label: "note", text: true, value: (one) => one.why },
  ], rowsOf("labels"));
  for (const note of notesOf("corrected")) add(section, "p", note, "soft");
  grid(section, "Means, and corrected by labels", [
    { label: "paradigm", head: true, value: (one) => one.paradigm, cell: (one) => nameOf(one.paradigm) }, ...whose, { label: "metric", text: true, value: (one) => one.metric },
    { label: "judge’s mean", value: (one) => one.raw, show: figure }, { label: "corrected", value: (one) => one.mean, show: figure },
    { label: "95 % interval", value: (one) => one.low, cell: (one) => range(one.low, one.high) },
    { label: "labels alone", value: (one) => one.labels, show: figure }, { label: "their interval", value: (one) => one.labels_low, cell: (one) => range(one.labels_low, one.labels_high) },
    { label: "labelled", value: (one) => one.labelled, cell: (one) => `${whole(one.labelled)} of ${whole(one.n)}` },
    { label: "weight", title: "how much the judge counts in the corrected mean", value: (one) => one.weight, show: figure }, { label: "note", text: true, value: (one) => one.why },
  ], rowsOf("corrected"), { most: 30 });
}
