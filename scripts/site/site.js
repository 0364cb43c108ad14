// A table of words is read from top to bottom.
const hasNumber = (row) => [...row.cells].slice(1).some((cell) => /^[-+−]?[.\d]/.test(cell.textContent.trim()));
for (const table of document.querySelectorAll("table.data")) {
  if ([...table.tBodies[0].rows].some(hasNumber)) makeSortable(table);
}
