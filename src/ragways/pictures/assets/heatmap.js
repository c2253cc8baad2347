const data = JSON.parse(document.getElementById("data").textContent);
const levels = atob(data.levels), count = data.names.length;
const map = document.getElementById("map"), pointed = document.getElementById("pointed");
function line(number) {
  const p = document.createElement("p"), b = document.createElement("b");
  b.textContent = data.names[number] + " ";
  p.append(b, data.texts[number]);
  return p;
}
map.addEventListener("pointermove", (event) => {
  const box = map.getBoundingClientRect();
  const place = (at, length) => Math.min(count - 1, Math.max(0, Math.floor(at / length * count)));
  const x = place(event.clientX - box.left, box.width), y = place(event.clientY - box.top, box.height);
  const level = levels.charCodeAt(y * count + x) / 255;
  const similarity = document.createElement("p");
  similarity.textContent = x === y ? "the same window" : (data.low + level * (data.high - data.low)).toFixed(2);
  pointed.replaceChildren(similarity, line(y), line(x));
});
