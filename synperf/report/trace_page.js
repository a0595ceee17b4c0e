"use strict";
// The switch of the theme: what the system prefers until it is used.
const root = document.documentElement;
const dark = () =>
  root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
const theme = document.getElementById("theme");
const named = () => { theme.textContent = dark() ? "Light theme" : "Dark theme"; };
theme.hidden = false;
theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; named(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", named);
named();

// A click on a head sorts by that column: numbers from the largest, words from A, then the other way.
const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
const value = (row, column) => JSON.parse(row.cells[column].dataset.value);
for (const head of document.querySelectorAll("th button")) {
  head.addEventListener("click", () => {
    const cell = head.closest("th");
    const body = cell.closest("table").tBodies[0];
    const column = cell.cellIndex;
    const first = cell.classList.contains("number") ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = cell.getAttribute("aria-sort") === first ? other : first;
    for (const one of cell.parentNode.cells) one.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const known = (row) => value(row, column) !== null;
    const rows = [...body.rows];
    const sorted = rows.filter(known).sort((a, b) => sign * compare(value(a, column), value(b, column)));
    body.append(...sorted, ...rows.filter((row) => !known(row)));
  });
}
