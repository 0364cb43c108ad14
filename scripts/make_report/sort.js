"use strict";

// The names of the columns become buttons that sort the rows.
const number = (text) => (text.trim() === "" ? NaN : Number(text));

function keyOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.v ?? cell.textContent.trim().replace(/[%±(].*$/, "");
  return { text: cell.textContent.trim(), value: number(text), empty: text === "" || text === "nan" };
}

function compare(a, b) {
  if (!Number.isNaN(a.value) && !Number.isNaN(b.value)) return a.value - b.value;
  return a.text.localeCompare(b.text, "en", { numeric: true });
}

function sort(table, column) {
  const header = table.tHead.rows[0].cells[column];
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
  const numeric = rows.some(({ key }) => !Number.isNaN(key.value));
  const first = numeric ? "descending" : "ascending";
  const other = numeric ? "ascending" : "descending";
  const order = header.getAttribute("aria-sort") === first ? other : first;
  const sign = order === "ascending" ? 1 : -1;
  rows.sort((a, b) => a.key.empty - b.key.empty || sign * compare(a.key, b.key));
  body.append(...rows.map(({ row }) => row));
  for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", order);
}

function makeSortable(table) {
  for (const header of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(table, header.cellIndex));
    header.append(button);
  }
}
