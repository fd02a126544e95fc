"use strict";
// Tables are sorted by a click on the head of a column. Without this script the page shows the same.

for (const table of document.querySelectorAll("table")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => sort(table, heads, column));
  });
}

function sort(table, heads, column) {
  const before = heads[column].getAttribute("aria-sort");
  const up = before ? before === "descending" : column === 0;
  heads.forEach((h) => h.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => row.cells[column].dataset.sort;
  const compare = column === 0
    ? (a, b) => key(a).localeCompare(key(b), "en", { numeric: true })
    : (a, b) => Number(key(a)) - Number(key(b));
  const rows = [...table.tBodies[0].rows].sort((a, b) => (up ? compare(a, b) : compare(b, a)));
  table.tBodies[0].append(...rows);
}
