// After the index, which `scripts.site.search` writes: [page, section, address, words] of every section.
const input = document.querySelector("#search input"), list = document.getElementById("found");
const MOST = 40;

// Every word of the query must begin a word of the section; those in titles count more.
function points([page, section, , words], query) {
  let sum = 0;
  for (const word of query) {
    const begins = (text) => ` ${text.toLowerCase()}`.search(new RegExp(`[^\\p{L}\\d]${word.replace(/[^\p{L}\d]/gu, ".")}`, "u")) >= 0;
    const own = (begins(page) ? (section ? 4 : 12) : 0) + (begins(section) ? 6 : 0) + (begins(words) ? 1 : 0);
    if (!own) return 0;
    sum += own;
  }
  return sum;
}

function search() {
  const query = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = query.length ? INDEX.map((entry) => [points(entry, query), entry]).filter(([sum]) => sum) : [];
  found.sort((a, b) => b[0] - a[0]);
  list.replaceChildren(...found.slice(0, MOST).map(([, [page, section, address]]) => {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = address;
    link.textContent = section ? `${page}: ${section}` : page;
    item.append(link);
    return item;
  }));
  document.querySelector("#search [role=status]").textContent = query.length ? `${found.length} section${found.length === 1 ? "" : "s"}` : "";
}
input.addEventListener("input", search);
input.value = decodeURIComponent(location.hash.slice(1));
input.focus();
search();
