// After sort.js.  Without this the table of all data stands there, and cannot be filtered.
const data = JSON.parse(document.getElementById("numbers").textContent);
const table = document.getElementById("board"), form = document.getElementById("filters");
const sizes = data.sizes.map((_, place) => place), scores = Object.keys(data.scores);
const code = new Map([...data.letters].map((letter, place) => [letter, place]));

// Two letters a number, data set by data set and size by size, in tenths.
function unpacked(text) {
  return data.datasets.map((_, row) => sizes.map((column) => {
    const at = 2 * (row * sizes.length + column);
    return text[at] === "." ? null : (64 * code.get(text[at]) + code.get(text[at + 1]) - 2048) / 10;
  }));
}
for (const part of [{ gains: data.random }, ...data.methods]) {
  for (const score of scores) part.gains[score] = unpacked(part.gains[score]);
}
const rows = [...table.querySelectorAll("tr[data-m]")].map((row) => ({ row, method: data.methods[row.dataset.m] }));

// The data sets that are chosen, by their places.
function chosen() {
  const [kind, name] = form.elements.data.value.split(":");
  return data.datasets.map((one, place) => [one, place])
    .filter(([one]) => (kind === "tested" ? data.tested.includes(one.name) : !kind || one[kind] === name)).map(([, place]) => place);
}

// The gain of a method on a data set at one size, or over all sizes that the data set has; null where one is missing.
function gain(method, score, dataset, size) {
  if (size !== "") return method.gains[score][dataset][size];
  let sum = 0, whole = 0;
  for (const place of sizes) {
    if (data.random[score][dataset][place] === null) continue;
    if (method.gains[score][dataset][place] === null) return null;
    sum += data.weights[place] * method.gains[score][dataset][place];
    whole += data.weights[place];
  }
  return whole ? sum / whole : null;
}

function byFamily(places, value) {
  const found = new Map();
  for (const place of places) {
    const own = value(place), family = data.datasets[place].family;
    if (own !== null) found.set(family, [...(found.get(family) || []), own]);
  }
  return [...found.values()].map(average);
}
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Mean and 95 % interval by Student's t over families.
function estimate(means) {
  const n = means.length, mean = average(means);
  if (n < 2) return { mean, n };
  const error = Math.sqrt(means.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n * (n - 1)));
  const reach = error * data.quantiles[Math.min(n - 1, data.quantiles.length) - 1];
  return { mean, n, low: mean - reach, high: mean + reach };
}

const signed = (value) => ["−", "", "+"][Math.sign(Math.round(10 * value)) + 1] + Math.abs(value).toFixed(1);
const position = (value) => (50 * (1 + Math.max(-1, Math.min(1, value / data.reach)))).toFixed(1);
function element(tag, text = "", names = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(names)) made.setAttribute(name, value);
  return made;
}

function show(cell, found) {
  cell.classList.remove("gains", "loses");
  cell.dataset.v = found ? found.mean.toFixed(2) : "";
  if (!found) return cell.replaceChildren();
  const { mean, low = mean, high = mean } = found;
  const bar = element("i", "", { class: "bar", style: `--m:${position(mean)};--l:${position(low)};--h:${position(high)}` });
  cell.replaceChildren(bar, element("b", signed(mean)), ...(found.n > 1 ? [element("small", `${signed(low)} to ${signed(high)}`)] : []));
}

const before = new Map(rows.flatMap(({ row }) => [...row.cells].map((cell) => [cell, [cell.innerHTML, cell.className, cell.dataset.v]])));
let printed = true; // the cells are those of the page as it came
function update() {
  const places = chosen(), size = form.elements.size.value, asPrinted = form.elements.data.value === "tested:" && size === "";
  const families = new Set(places.map((place) => data.datasets[place].family)).size;
  const kinds = [...form.querySelectorAll("[name=kind]:checked")].map((box) => box.value), limit = form.elements.seconds.value;
  let shown = 0;
  for (const { row, method } of rows) {
    const cells = [...row.cells], known = places.filter((place) => gain(method, "acc", place, size) !== null);
    const n = new Set(known.map((place) => data.datasets[place].family)).size, few = n < Math.min(data.enough, families);
    const seconds = median(known.map((place) => method.seconds[place]).filter((value) => value !== null));
    if (asPrinted && !printed) for (const cell of cells.slice(1)) [cell.innerHTML, cell.className, cell.dataset.v] = before.get(cell);
    if (!asPrinted) {
      scores.forEach((score, place) => {
        const means = byFamily(places, (dataset) => gain(method, score, dataset, size));
        show(cells[1 + place], means.length ? estimate(means) : null);
      });
      cells[4].textContent = `${known.length < places.length ? "only " : ""}${known.length} of ${places.length}`;
      cells[4].dataset.v = known.length;
      cells[5].textContent = cells[5].dataset.v = Number.isNaN(seconds) ? "" : Number(seconds.toPrecision(2));
    }
    row.classList.toggle("few", few);
    table.tBodies[few ? 1 : 0].append(row);
    row.hidden = !known.length || !kinds.includes(method.kind) || (limit !== "" && !(seconds <= Number(limit)));
    shown += !row.hidden;
  }
  printed = asPrinted;
  table.querySelector(".why").hidden = !rows.some(({ row }) => !row.hidden && row.classList.contains("few"));
  const only = form.elements.score.value;
  table.dataset.only = only && scores.indexOf(only);
  const header = table.querySelector("[aria-sort]"), order = header.getAttribute("aria-sort");
  const hidden = only && header.cellIndex > 0 && header.cellIndex < 4 && header.cellIndex !== 1 + scores.indexOf(only);
  const column = hidden ? 1 + scores.indexOf(only) : header.cellIndex;
  sort(table, column);
  if (table.tHead.rows[0].cells[column].getAttribute("aria-sort") !== order) sort(table, column);
  form.querySelector("[role=status]").textContent = `${shown} of ${rows.length} methods` +
    (asPrinted ? "" : "; marks belong to the first view, and are left out here");
  draw();
}
const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b), half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

function option(value, text) { return element("option", text, { value }); }
function group(label, options) {
  const made = element("optgroup", "", { label });
  made.append(...options);
  return made;
}
const counted = (kind, name) => `${name.replaceAll("_", " ")} (${data.datasets.filter((one) => one[kind] === name).length})`;
const families = [...new Set(data.datasets.map((one) => one.family))].sort();
form.elements.data.append(
  option("tested:", `the tested data sets (${data.tested.length})`),
  ...(data.tested.length < data.datasets.length ? [option("", `all (${data.datasets.length})`), option("part:exploratory", counted("part", "exploratory"))] : []),
  group("Families", families.map((name) => option(`family:${name}`, counted("family", name)))),
  group("Data sets", data.datasets.map((one) => option(`name:${one.name}`, one.title))),
);
for (const { row, method } of rows) {
  const box = element("input", "", { type: "checkbox", "aria-label": `Draw ${method.title}` });
  row.cells[0].prepend(box, " ");
  box.addEventListener("change", draw);
}
// Drawn at first: the best four that are methods of papers, and two yardsticks.
const best = rows.filter(({ row, method }) => method.kind === "method" && !row.classList.contains("few")).slice(0, 4);
const yardsticks = rows.filter(({ method }) => ["random_rankings", "all_features"].includes(method.name));
for (const { row } of [...best, ...yardsticks]) row.querySelector("input").checked = true;
makeSortable(table);
form.hidden = document.getElementById("curves").hidden = false;
if (innerWidth < 640) form.elements.score.value = "acc";
form.addEventListener("input", update);
addEventListener("resize", () => draw());
update();
