// On phones, the cells of wide tables stand below each other, each after the name of its column; see site.css.
for (const table of document.querySelectorAll(".bd-article table")) {
  const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
  if (names.length < 3 && table.scrollWidth <= table.parentElement.clientWidth) continue;
  table.classList.add("wide");
  for (const row of table.querySelectorAll("tbody tr"))
    [...row.children].forEach((cell, i) => { if (names[i]) cell.dataset.column = names[i]; });
}
