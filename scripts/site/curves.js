// After board.js: the chart of a score over the number of features.
function draw() {
  const places = chosen(), score = form.elements.score.value || "acc";
  // On the same data sets at every size, or the line would move with the data.
  const has = (dataset) => sizes.map((size) => data.random[score][dataset][size] !== null);
  const most = Math.max(...places.map((place) => has(place).filter(Boolean).length));
  const alike = places.filter((place) => has(place).filter(Boolean).length === most);
  const columns = sizes.filter((size) => has(alike[0])[size]);
  const lines = [], lacking = [];
  for (const { row, method } of rows) {
    if (!row.querySelector("input").checked || row.hidden || lines.length === 20) continue;
    const missing = alike.some((place) => columns.some((size) => method.gains[score][place][size] === null));
    if (missing) lacking.push(method.title);
    else lines.push({ method, y: columns.map((size) => average(byFamily(alike, (place) => data.random[score][place][size] + method.gains[score][place][size]))) });
  }
  const box = document.querySelector("#curves figure"), width = Math.max(280, Math.min(box.clientWidth, 900)), height = 380;
  const [left, right, top, bottom] = [38, Math.min(190, width / 3), 10, 36];
  const all = lines.flatMap((line) => line.y), low = Math.floor(Math.min(...all) / 5) * 5, high = Math.ceil(Math.max(...all) / 5) * 5 || 5;
  const x = (place) => left + (columns.length > 1 ? place / (columns.length - 1) : 0.5) * (width - left - right);
  const y = (value) => top + (high - value) / Math.max(high - low, 1) * (height - top - bottom);
  const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${data.scores[score]} over the number of features` });
  for (let value = low; value <= high; value += high - low > 30 ? 10 : 5) {
    svg.append(node("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), class: "grid" }), label(left - 6, y(value) + 4, value, "end"));
  }
  columns.forEach((size, place) => svg.append(label(x(place), height - 18, data.sizes[size], "middle")));
  svg.append(label((left + width - right) / 2, height - 2, "features", "middle"));
  let last = -Infinity;
  const ends = [...lines].sort((a, b) => b.y.at(-1) - a.y.at(-1)).map((line) => [line, (last = Math.max(y(line.y.at(-1)), last + 14))]);
  const legend = document.querySelector("#curves .legend");
  legend.replaceChildren();
  lines.forEach((line, place) => {
    const own = node("g", { class: `line c${place % 8}`, "data-dash": Math.floor(place / 8) });
    line.group = own;
    own.append(node("polyline", { points: line.y.map((value, at) => `${x(at)},${y(value)}`).join(" ") }));
    line.y.forEach((value, at) => own.append(node("circle", { cx: x(at), cy: y(value), r: 3 })));
    const end = ends.find(([one]) => one === line)[1];
    own.append(label(width - right + 8, end + 4, fitted(line.method.title, right), "start"));
    svg.append(own);
    const button = element("button", line.method.title, { type: "button", class: `c${place % 8}`, title: "Take it off" });
    button.addEventListener("click", () => { rows.find(({ method }) => method === line.method).row.querySelector("input").checked = false; draw(); });
    button.addEventListener("focus", () => say(line));
    legend.append(button);
  });
  const output = document.querySelector("#curves output");
  const where = `${alike.length === 1 ? data.datasets[alike[0]].title : `mean over ${alike.length} data sets`}`;
  const idle = `${data.scores[score]}, ${where}${alike.length < places.length ? ` that have ${data.sizes[columns.at(-1)]} features or more` : ""}` +
    (lacking.length ? `. Not drawn, for want of some of these: ${lacking.join(", ")}` : "");
  output.textContent = idle;
  function say(line, at) {
    for (const one of lines) one.group.classList.toggle("on", one === line);
    const texts = columns.map((size, place) => `${data.sizes[size]}: ${line?.y[place].toFixed(1)}`);
    output.textContent = !line ? idle : at === undefined ? `${line.method.title}: ${texts.join(", ")}`
      : `${line.method.title}, ${data.sizes[columns[at]]} features: ${line.y[at].toFixed(1)}`;
  }
  svg.addEventListener("pointermove", (event) => {
    const place = svg.getBoundingClientRect(), at = columns.map((_, k) => Math.abs(place.x + x(k) - event.clientX));
    const nearest = at.indexOf(Math.min(...at)), away = lines.map((line) => Math.abs(place.y + y(line.y[nearest]) - event.clientY));
    const best = away.indexOf(Math.min(...away));
    if (away[best] < 30) say(lines[best], nearest);
    else say(null);
  });
  svg.addEventListener("pointerleave", () => say(null));
  box.replaceChildren(...(lines.length ? [svg] : []));
}
const fitted = (text, width) => (text.length * 7 > width ? text.slice(0, width / 7 - 1) + "…" : text);
function node(tag, names) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(names)) made.setAttribute(name, value);
  return made;
}
function label(x, y, text, anchor) {
  const made = node("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}
