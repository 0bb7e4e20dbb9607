// The values of all classes and systems as a heat map.

import { el, nameOf, select } from "../dom.js";
import { fixed } from "../format.js";
import { LongTable } from "../long_table.js";
import { hideTooltip, showTooltip } from "../tooltip.js";
import { extremes, numberOf } from "./numbers.js";

const MOST_COLOUR = 50; // percent; more would make the numbers hard to read
const COLUMNS_ON_PAPER = 15; // so many systems fit on paper

export class ClassValues {
  constructor(section, board) {
    const metrics = board.metrics.map(({ name }, m) => [m, name]).filter(([m]) => board.classes[m].length);
    Object.assign(this, { section, board, metric: metrics[0][0], order: "listed", shown: [] });
    this.about = el("p", { class: "about" });
    this.head = el("tr");
    this.foot = el("tr");
    this.table = new LongTable(this.head, this.foot, (row) => this.lineOf(row), { class: "matrix heat" });
    this.table.holder.addEventListener("mousemove", (event) => this.describe(event));
    this.table.holder.addEventListener("mouseleave", hideTooltip);
    const choices = [["listed", "as listed"], ["hardest", "hardest first"], ["spread", "largest differences first"]];
    section.append(this.about, el("div", { class: "row screen" },
      metrics.length > 1 ? select("Metric", metrics, (m) => this.choose({ metric: Number(m) }), { id: "class-metric" }) : "",
      select("Order of the classes", choices, (order) => this.choose({ order }), { id: "class-order" }),
      this.table.searchField), this.table.holder,
    el("p", { class: "paper" }, "The values of the classes are in ranking.csv."));
  }

  choose(choice) {
    Object.assign(this, choice);
    this.draw();
  }

  show(systems) {
    this.shown = systems;
    this.draw();
  }

  values(c) {
    return this.shown.map((i) => numberOf(this.board.class_values[this.metric][i][c]));
  }

  draw() {
    const { board, metric } = this;
    const { name, higher_is_better: higher } = board.metrics[metric];
    const fits = this.shown.length <= COLUMNS_ON_PAPER;
    this.table.holder.classList.toggle("screen", !fits);
    this.section.lastChild.hidden = fits;
    this.about.replaceChildren("The value of each class: ", nameOf(name),
      ` (${higher ? "higher" : "lower"} is better). The stronger the colour, the higher the value.`);
    const rows = board.classes[metric].map((label, c) => ({ label, c }));
    const [low, high] = extremes(rows.flatMap(({ c }) => this.values(c)));
    [this.low, this.high] = low >= 0 && high <= 1 ? [0, 1] : [low, high];
    this.head.replaceChildren(el("th", { scope: "col" }, "class"), ...this.shown.map((i) =>
      el("th", { scope: "col", class: "turned" }, nameOf(board.systems[i].full_name))));
    this.foot.replaceChildren(el("th", { scope: "row" }, "overall"), ...this.shown.map((i) =>
      el("td", {}, fixed(numberOf(board.systems[i].values[metric][0]), 2))));
    this.table.setRows(this.sorted(rows, higher));
  }

  sorted(rows, higher) {
    if (this.order === "listed") return rows;
    const key = ({ c }) => {
      const values = this.values(c).filter(Number.isFinite);
      const [low, high] = extremes(values);
      if (!values.length) return Infinity; // last
      if (this.order === "spread") return low - high;
      return ((higher ? 1 : -1) * values.reduce((sum, value) => sum + value, 0)) / values.length;
    };
    const keys = new Map(rows.map((row) => [row, key(row)]));
    return rows.sort((a, b) => keys.get(a) - keys.get(b) || a.c - b.c || 0);
  }

  lineOf(row) {
    row.line ??= el("tr", {}, el("th", { scope: "row" }, nameOf(row.label)),
      ...this.values(row.c).map((value, k) => this.cell(value, row.c, k)));
    return row.line;
  }

  cell(value, c, k) {
    const cell = el("td", { "data-class": c, "data-column": k }, fixed(value, 2));
    const share = (value - this.low) / (this.high - this.low || 1);
    if (Number.isFinite(share)) cell.style.setProperty("--share", `${(MOST_COLOUR * share).toFixed(1)}%`);
    return cell;
  }

  describe(event) {
    const cell = event.target.closest("td[data-class]");
    if (!cell) return hideTooltip();
    const [c, i] = [Number(cell.dataset.class), this.shown[Number(cell.dataset.column)]];
    const value = numberOf(this.board.class_values[this.metric][i][c]);
    return showTooltip(event.clientX, event.clientY, this.board.systems[i].full_name,
      [nameOf(this.board.classes[this.metric][c]), fixed(value)]);
  }
}
