// sort.js comes before this.  Without the two every table is there, in the order of the study; they add sorting and filtering.
function addFilter(container, items, before, label) {
  const tools = document.createElement("div");
  tools.className = "tools";
  const field = document.createElement("label");
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = 'all of these words, or "a phrase"';
  field.append("Filter ", input);
  input.setAttribute("aria-label", `Filter ${label}`);
  const count = document.createElement("span");
  count.setAttribute("role", "status");
  tools.append(field, count);
  before.before(tools);
  let texts = null; // read when they are first asked for: thousands of them take long while the page opens
  const apply = () => {
    texts ??= new Map(items().map((item) => [item, item.textContent.toLowerCase()]));
    // What stands in quotes is one word, so that a verdict is not found in the text of another one's reason.
    const words = (input.value.toLowerCase().match(/"[^"]+"|[^\s"]+/g) || []).map((word) => word.replaceAll('"', ""));
    let shown = 0;
    for (const [item, text] of texts) {
      item.hidden = !words.every((word) => text.includes(word));
      shown += !item.hidden;
    }
    count.textContent = words.length ? `${shown} of ${texts.size}` : "";
  };
  input.addEventListener("input", apply);
  container.setFilter = (value) => {
    input.value = value;
    apply();
  };
}

const FEW = 12; // rows that are read as fast as a word is typed
for (const table of document.querySelectorAll("table.data")) {
  makeSortable(table);
  if (table.tBodies[0].rows.length <= FEW && !table.closest("#comparison")) continue;
  const region = table.closest(".scroll");
  addFilter(table.closest("section"), () => [...table.tBodies[0].rows], region, region.getAttribute("aria-label"));
}

// On the site a report is in several pages, of which some have these.
const trials = document.getElementById("trials");
const articles = () => [...document.querySelectorAll(".trial")];
if (articles().length) addFilter(trials, articles, articles()[0], "fits");

for (const link of document.querySelectorAll("a[data-filter]")) {
  link.addEventListener("click", () => document.getElementById("comparison").setFilter(link.dataset.filter));
}

// A link opens the fit it leads to, even where a filter hides it, and the keyboard goes on from there.
function reveal() {
  const target = location.hash.startsWith("#t-") && document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (target.hidden) trials.setFilter("");
  target.querySelector("details.fit").open = true;
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", reveal);
reveal();
