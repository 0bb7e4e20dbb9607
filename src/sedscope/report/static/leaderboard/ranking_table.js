// The ranking: a row for each system, with intervals drawn. The user can sort it, and keep the best of each team.

import { button, el, keepingFocus, nameOf, svg } from "../dom.js";
import { short } from "../format.js";
import { extremes, numberOf, valueText } from "./numbers.js";

const WIDTH = 200; // of a picture of an interval
const MARGIN = 5; // so that the mark of a value fits

export class RankingTable {
  // `choose(bestOnly)` is called at once, and whenever the user chooses whose systems are shown.
  constructor(section, board, choose) {
    Object.assign(this, { board, choose, bestOnly: false, sorting: { column: 0, descending: false } });
    this.columns = this.makeColumns();
    this.head = el("tr", {}, ...this.columns.map((column, i) => this.heading(column, i)));
    this.body = el("tbody");
    const severalOfATeam = board.systems.some((system) => !system.best_of_team);
    const box = el("input", { type: "checkbox", id: "best-only", onchange: () => {
      this.bestOnly = box.checked;
      this.draw();
      this.choose(this.bestOnly);
    } });
    section.append(
      el("p", { class: "about" }, "Systems of one tie group cannot be told apart from the best one of the group. A line " +
        "above a system starts a new group."),
      severalOfATeam ? el("p", { class: "screen" }, el("label", {}, box, " Only the best system of each team")) : "",
      el("div", { class: "scroll" }, el("table", { id: "table", class: "ranking" }, el("thead", {}, this.head), this.body)));
    this.draw();
    this.choose(this.bestOnly);
  }

  makeColumns() {
    const { systems, metrics, score } = this.board;
    const [low, high] = extremes(systems.flatMap((system) => system.score));
    const others = metrics.map((metric, m) => [metric, m]).filter(([metric]) => metric.name !== score.name);
    const columns = [
      { name: "rank", value: (system) => system.rank },
      { name: "system", value: (system) => system.name, isName: true, isSystem: true, cell: (system) => nameCell(system) },
      { name: "team", value: (system) => system.team, isName: true, isTeam: true, cell: (system) => nameOf(system.team) },
      { name: score.name, value: (system) => numberOf(system.score[0]), descending: score.higher_is_better,
        cell: (system) => valueText(system.score), title: score.definition },
      { name: `${short(low, 3)} … ${short(high, 3)}`, drawn: true,
        cell: (system) => whisker(system.score.map(numberOf), [low, high], "interval of the score") },
      { name: "ranks", title: "interval of the rank", value: (system) => system.ranks[0] + system.ranks[1] / 1e6,
        cell: (system) => (system.ranks[0] === system.ranks[1] ? system.ranks[0] : system.ranks.join("–")) },
      { name: `1 … ${systems.length}`, drawn: true,
        cell: (system) => whisker([system.rank, ...system.ranks], [1, systems.length], "interval of the rank") },
      { name: "team rank", isTeamRank: true, title: "rank of the team, by its best system",
        value: (system) => system.team_rank + (system.best_of_team ? 0 : 0.5),
        cell: (system) => (system.best_of_team ? system.team_rank : "") },
      { name: "tie group", value: (system) => system.group },
      ...others.map(([metric, m]) => ({ name: metric.name, title: metric.definition, descending: metric.higher_is_better,
        value: (system) => numberOf(system.values[m][0]), cell: (system) => valueText(system.values[m]) })),
    ];
    const withTeams = systems.some((system) => system.team !== system.name);
    const severalOfATeam = systems.some((system) => !system.best_of_team);
    return columns.filter((column) => (withTeams || !column.isTeam) && (severalOfATeam || !column.isTeamRank));
  }

  heading(column, i) {
    const content = column.drawn ? column.name : button(column.name, () => this.sort(i),
      { title: column.title ? `${column.title} – sort` : "sort" });
    return el("th", { scope: "col", class: classOf(column) }, content);
  }

  sort(column) {
    const { sorting } = this;
    const first = Boolean(this.columns[column].descending);
    this.sorting = { column, descending: sorting.column === column ? !sorting.descending : first };
    this.draw();
  }

  draw() {
    const { column, descending } = this.sorting;
    const { value } = this.columns[column];
    const before = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b || 0);
    const compare = (a, b) => Number.isNaN(a) - Number.isNaN(b) || (descending ? before(b, a) : before(a, b)); // NaN is last
    const rows = this.board.systems.filter((system) => !this.bestOnly || system.best_of_team);
    rows.sort((a, b) => compare(value(a), value(b)));
    const byRank = column === 0 && !descending;
    keepingFocus(this.head, () => [...this.head.children].forEach((cell, i) => {
      if (i === column) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }));
    this.body.replaceChildren(...rows.map((system, i) => {
      const starts = byRank && i > 0 && rows[i - 1].group !== system.group;
      system.line ??= el("tr", {}, ...this.columns.map((entry) => cellOf(entry, system)));
      system.line.classList.toggle("new-group", starts);
      return system.line;
    }));
  }
}

function cellOf(column, system) {
  const content = column.cell ? column.cell(system) : column.value(system);
  if (column.isSystem) return el("th", { scope: "row", class: classOf(column) }, content);
  return el("td", { class: classOf(column) }, content);
}

function classOf(column) {
  if (column.isSystem) return "text system";
  return column.isName ? "text" : column.drawn ? "drawn" : null;
}

// The name of a system is the link to its report. The reports of several data sets have links of their own below it.
function nameCell({ name, reports }) {
  if (!reports.length) return nameOf(name);
  if (!reports[0][0]) return el("a", { href: reports[0][1] }, nameOf(name));
  const links = reports.flatMap(([dataset, page], i) => [i ? " · " : " ", el("a", { href: page }, nameOf(dataset))]);
  return el("span", {}, nameOf(name), el("span", { class: "reports" }, "report:", ...links));
}

// A picture of a value and its interval between two ends.
function whisker([value, low, high], [first, last], label) {
  const x = (number) => MARGIN + ((WIDTH - 2 * MARGIN) * (number - first)) / (last - first || 1);
  const picture = svg("svg", { class: "whisker", viewBox: `0 0 ${WIDTH} 14`, role: "img", "aria-label": label });
  if (Number.isFinite(low) && Number.isFinite(high))
    picture.append(svg("line", { class: "range", x1: x(low), x2: x(high), y1: 7, y2: 7 }));
  if (Number.isFinite(value)) picture.append(svg("circle", { cx: x(value), cy: 7, r: 4 }));
  return picture;
}
