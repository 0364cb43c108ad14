"use strict";
// Filters and the chart of the leaderboard.  Without this, the table of the tested data stands there.
const data = BOARD, form = document.getElementById("filters"), table = document.getElementById("board");
const scores = Object.keys(data.scores), sizes = data.sizes.map((_, place) => place);
const rows = [...table.tBodies[0].rows].map((row) => ({ row, method: data.methods.find(({ name }) => name === row.dataset.m) }));
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const signed = (value) => (value < -0.05 ? "−" : value < 0.05 ? "" : "+") + Math.abs(value).toFixed(1);
const median = (values) => values.sort((a, b) => a - b)[(values.length - 1) >> 1];

function element(tag, attributes = {}, ...content) {
  const isDrawn = ["svg", "path", "polyline", "circle", "text", "g"].includes(tag);
  const made = isDrawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

// The places of the data sets that are chosen.
function chosen() {
  const [kind, name] = form.elements.data.value.split(":");
  const fits = (one) => (kind === "tested" ? data.tested.includes(one.name) : kind === "all" || one[kind] === name);
  return data.datasets.flatMap((one, place) => (fits(one) ? [place] : []));
}

// The gain of a method on a data set in points, at one size or weighted over the sizes that the data set has.
function gain(method, score, dataset, size) {
  const own = method.gains[score][dataset];
  if (size !== "") return own[size] === null ? null : own[size] / 10;
  const known = sizes.filter((place) => data.random[score][dataset][place] !== null);
  if (!known.length || known.some((place) => own[place] === null)) return null;
  const whole = known.reduce((sum, place) => sum + data.weights[place], 0);
  return known.reduce((sum, place) => sum + data.weights[place] * own[place], 0) / whole / 10;
}

function byFamily(places, value) {
  const found = new Map();
  for (const place of places) {
    const own = value(place), family = data.datasets[place].family;
    if (own !== null) found.set(family, [...(found.get(family) || []), own]);
  }
  return [...found.values()].map(average);
}

// Mean and 95 % interval by Student's t over families.
function estimate(means) {
  const n = means.length, mean = average(means);
  if (n < 2) return { mean };
  const error = Math.sqrt(means.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n * (n - 1)));
  const reach = error * data.quantiles[Math.min(n - 1, data.quantiles.length) - 1];
  return { mean, low: mean - reach, high: mean + reach };
}

function show(cell, { mean, low, high }) {
  const at = (value) => (50 * (1 + Math.max(-1, Math.min(1, value / data.reach)))).toFixed(1);
  const ends = low === undefined ? [mean, mean] : [low, high];
  const bar = element("i", { class: "bar", style: `--m:${at(mean)};--l:${at(ends[0])};--h:${at(ends[1])}` });
  cell.replaceChildren(bar, element("b", {}, signed(mean)));
  if (low !== undefined) cell.append(element("small", {}, `${signed(low)} to ${signed(high)}`));
}

const printed = new Map(rows.map(({ row }) => [row, row.innerHTML])); // as the page came: with marks of the test
function update() {
  const places = chosen(), size = form.elements.size.value, by = form.elements.score.value;
  const isPrinted = form.elements.data.value === "tested:" && size === "";
  const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value);
  const limit = Number(form.elements.seconds.value || Infinity);
  const families = new Set(places.map((place) => data.datasets[place].family)).size;
  for (const one of rows) {
    const { row, method } = one, known = places.filter((place) => gain(method, by, place, size) !== null);
    const means = byFamily(places, (place) => gain(method, by, place, size));
    const seconds = median(known.map((place) => method.seconds[place]).filter((value) => value !== null));
    const ticked = row.querySelector("input")?.checked;
    row.innerHTML = printed.get(row);
    if (!isPrinted) {
      scores.forEach((score, place) => {
        const own = byFamily(places, (dataset) => gain(method, score, dataset, size));
        if (own.length) show(row.cells[2 + place], estimate(own)); else row.cells[2 + place].replaceChildren();
      });
      row.cells[5].textContent = `${known.length} of ${places.length}`;
      row.cells[6].textContent = seconds === undefined ? "" : Number(seconds.toPrecision(2));
    }
    const box = element("input", { type: "checkbox", "aria-label": `Draw ${method.title}` });
    box.checked = ticked ?? row.hasAttribute("data-drawn");
    box.addEventListener("change", draw);
    row.cells[1].prepend(box, " ");
    one.isFew = means.length < Math.min(data.enough, families);
    one.key = means.length ? average(means) : -Infinity;
    row.classList.toggle("few", one.isFew);
    row.hidden = !known.length || !kinds.includes(method.kind) || seconds > limit;
  }
  rows.sort((a, b) => a.isFew - b.isFew || b.key - a.key);
  let rank = 0;
  for (const { row, isFew } of rows) row.cells[0].textContent = row.hidden || isFew ? "" : ++rank;
  table.tBodies[0].append(...rows.map(({ row }) => row));
  table.dataset.by = scores.indexOf(by);
  form.querySelector("[role=status]").textContent = `${rows.filter(({ row }) => !row.hidden).length} of ${rows.length} shown`;
  draw();
}

// The mean score over the number of features of the ticked methods, on the data sets that have the most sizes.
function draw() {
  const places = chosen(), score = form.elements.score.value;
  const has = (dataset) => sizes.filter((size) => data.random[score][dataset][size] !== null);
  const most = Math.max(...places.map((place) => has(place).length)), alike = places.filter((place) => has(place).length === most);
  const columns = has(alike[0]), lines = [];
  for (const { row, method } of rows) {
    const isWhole = alike.every((place) => columns.every((size) => method.gains[score][place][size] !== null));
    if (row.hidden || !row.querySelector("input").checked || !isWhole || lines.length === 8) continue;
    const at = (size) => average(byFamily(alike, (place) => (data.random[score][place][size] + method.gains[score][place][size]) / 10));
    lines.push({ title: method.title, values: columns.map(at) });
  }
  const box = document.getElementById("curves"), width = Math.max(330, Math.min(box.clientWidth, 860)), height = 320;
  const [left, right, top, bottom] = [34, Math.min(200, width / 2.6), 12, 40], all = lines.flatMap(({ values }) => values);
  const low = 5 * Math.floor(Math.min(...all) / 5), high = 5 * Math.ceil(Math.max(...all) / 5), step = high - low > 30 ? 10 : 5;
  const x = (place) => left + (columns.length > 1 ? place / (columns.length - 1) : 0.5) * (width - left - right);
  const y = (value) => top + ((high - value) / Math.max(high - low, 1)) * (height - top - bottom);
  const label = (x, y, text, anchor = "middle") => element("text", { x, y, "text-anchor": anchor }, text);
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", width, height, role: "img" });
  for (let value = low; value <= high; value += step) {
    svg.append(element("path", { class: "grid", d: `M${left} ${y(value)}H${width - right}` }), label(left - 6, y(value) + 4, value, "end"));
  }
  columns.forEach((size, place) => svg.append(label(x(place), height - 22, data.sizes[size])));
  svg.append(label(0, height - 4, `${data.scores[score]} in percent over features, ${alike.length} data sets`, "start"));
  let last = -Infinity;
  [...lines].sort((a, b) => b.values.at(-1) - a.values.at(-1)).forEach((line, place) => {
    const group = element("g", { class: `line c${place}` });
    group.append(element("polyline", { points: line.values.map((value, at) => `${x(at)},${y(value)}`).join(" ") }));
    line.values.forEach((value, at) => group.append(element("circle", { cx: x(at), cy: y(value), r: 3 }, element("title", {}, `${line.title}: ${value.toFixed(1)}`))));
    last = Math.max(y(line.values.at(-1)), last + 15);
    group.append(label(width - right + 8, last + 4, line.title, "start"));
    svg.append(group);
  });
  box.replaceChildren(...(lines.length ? [svg] : ["Tick a method to draw it."]));
}

const count = (kind, name) => `${name.replaceAll("_", " ")} (${data.datasets.filter((one) => one[kind] === name).length})`;
const option = (value, text) => element("option", { value }, text);
const group = (label, options) => { const made = element("optgroup", { label }); made.append(...options); return made; };
form.elements.data.append(
  option("tested:", `the tested ${data.tested.length}`),
  option("all:", `all ${data.datasets.length}`),
  group("Families", [...new Set(data.datasets.map(({ family }) => family))].sort().map((name) => option(`family:${name}`, count("family", name)))),
  group("Data sets", data.datasets.map(({ name, title }) => option(`name:${name}`, title))),
);
form.hidden = false;
form.addEventListener("input", update);
addEventListener("resize", draw);
update();
