// All pairs of systems: which differences exceed chance.

import { el, nameOf } from "../dom.js";
import { signed } from "../format.js";
import { hideTooltip, showTooltip } from "../tooltip.js";
import { numberOf } from "./numbers.js";

const SIGNS = { 1: ">", 0: "≈", [-1]: "<" };
const WORDS = { 1: "better", 0: "a tie", [-1]: "worse" };
const PAIRS_ON_PAPER = 25; // so many systems fit on paper

export class PairMatrix {
  constructor(section, board) {
    Object.assign(this, { section, board, shown: [] });
    this.table = el("table", { class: "matrix sparse" });
    this.holder = el("div", { class: "scroll" }, this.table);
    this.holder.addEventListener("mousemove", (event) => this.describe(event));
    this.holder.addEventListener("mouseleave", hideTooltip);
    section.append(el("p", { class: "about" }, "> the system of the row is better than that of the column, < it is worse, " +
      "≈ the difference is inside the noise. The p values are corrected for the number of pairs."), this.holder,
    el("p", { class: "paper" }, "The differences of all pairs are in pairs.csv."));
  }

  // The difference of the system in place i minus that in place j, which are counted in the order of the ranking.
  pair(i, j) {
    const [first, second] = i < j ? [i, j] : [j, i];
    const number = this.board.systems.length;
    const [difference, p, significant] = this.board.pairs[first * number - (first * (first + 1)) / 2 + second - first - 1];
    const sign = i < j ? 1 : -1;
    return { difference: sign * numberOf(difference), p, verdict: significant ? sign : 0 };
  }

  show(systems) {
    this.shown = systems;
    const fits = systems.length <= PAIRS_ON_PAPER;
    this.holder.classList.toggle("screen", !fits);
    this.section.lastChild.hidden = fits;
    const name = (i) => nameOf(this.board.systems[i].full_name);
    this.table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "system"),
        ...systems.map((i) => el("th", { scope: "col", class: "turned" }, name(i))))),
      el("tbody", {}, ...systems.map((i) => el("tr", {}, el("th", { scope: "row" }, name(i)),
        ...systems.map((j) => this.cell(i, j))))));
  }

  cell(i, j) {
    if (i === j) return el("td", { class: "diagonal" });
    const { verdict } = this.pair(i, j);
    return el("td", { class: `sign v${verdict}`, "data-pair": `${i} ${j}` }, SIGNS[verdict]);
  }

  describe(event) {
    const cell = event.target.closest("td[data-pair]");
    if (!cell) return hideTooltip();
    const [i, j] = cell.dataset.pair.split(" ").map(Number);
    const { difference, p, verdict } = this.pair(i, j);
    return showTooltip(event.clientX, event.clientY, this.board.systems[i].full_name,
      [el("span", {}, "minus ", nameOf(this.board.systems[j].full_name)), `${signed(difference)}, p ${p}: ${WORDS[verdict]}`]);
  }
}
