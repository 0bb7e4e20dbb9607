// Groups of clips, of classes or of reference lengths: a dot with its interval for each, and the average. The user can
// sort them.

import { button, el, nameOf, select, svg } from "../dom.js";
import { saveCsv, saveLatex } from "../exports.js";
import { capitalised, fixed, short, whole } from "../format.js";
import { LongTable } from "../long_table.js";
import { unpackNumber } from "../model.js";
import { registerPanel } from "../panel.js";

registerPanel("groups", ({ section, data, model, state }) => {
  const pictures = data.groupings.map((grouping) => new GroupTable(grouping, model, state));
  section.append(
    el("p", { class: "about" }, "The value of a group is that of its clips or classes alone. Lines through the dots are " +
      "intervals, if there are any; the grey line is the value of all clips and classes."),
    ...data.left_out.map((sentence) => el("p", { class: "about" }, sentence)),
    ...pictures.flatMap(({ parts }) => parts));
});

class GroupTable {
  constructor(grouping, model, state) {
    Object.assign(this, { grouping, model, state, metric: 0, sorting: { column: null, descending: false } });
    [this.head, this.foot] = [el("tr"), el("tr", { class: "total" })];
    this.table = new LongTable(this.head, this.foot, (row) => this.lineOf(row),
      { class: "groups", "data-kind": grouping.kind }, "group");
    const column = (name, numbers, text) => ({ name, text, value: (row) => numbers[row.number] });
    this.facts = [
      grouping.kind === "lengths" ? null : column(grouping.kind, grouping.members, whole),
      grouping.kind === "clips" ? column("hours", grouping.hours, (hours) => fixed(hours, 2)) : null,
      column("references", grouping.references, whole),
    ].filter((fact) => fact !== null);
    this.columns = [{ name: grouping.kind === "lengths" ? "length" : "group", value: (row) => row.number },
      ...this.facts, { name: "value", value: (row) => row.value }];
    const file = `groups_of_${grouping.kind}`;
    this.parts = [el("h3", {}, capitalised(grouping.title)),
      el("div", { class: "row" },
        select("Metric", model.metrics.map(({ name }, m) => [m, name]), (value) => {
          this.metric = Number(value);
          this.draw();
        }),
        el("span", { class: "tools" }, this.table.searchField,
          button("CSV", () => saveCsv(file, this.cells())),
          button("LaTeX", () => saveLatex(file, this.cells())))),
      this.table.holder];
    let shown = state.system;
    state.listen(() => {
      if (state.system !== shown) this.draw();
      shown = state.system;
    });
    this.draw();
  }

  draw() {
    const { grouping, model, state, metric } = this;
    this.rows = grouping.values[state.system][metric].map((limits, number) =>
      ({ number, label: grouping.names[number], ...withLimits(limits) }));
    this.overall = model.values[state.system][metric].value;
    this.average = grouping.averages.length ? withLimits(grouping.averages[state.system][metric]) : null;
    const numbers = [...this.rows, this.average ?? {}].flatMap(({ value, low, high }) => [value, low, high]);
    this.limit = [...numbers, this.overall].filter(Number.isFinite).reduce((most, end) => Math.max(most, end), 0.01);
    this.order();
    const headings = this.names().map((name, i) => el("th", { scope: "col", "aria-sort": this.sortOf(i) },
      button(name, () => this.sort(i), { title: "sort" })));
    this.head.replaceChildren(...headings, el("th", { scope: "col" }, "interval"),
      el("th", { scope: "col", class: "drawn" }, `0 … ${short(this.limit, 2)}`));
    this.foot.replaceChildren(...(this.average === null ? [] : [el("th", { scope: "row" }, grouping.average),
      ...this.facts.map(() => el("td")), ...this.valueCells(this.average)]));
  }

  names() {
    return [...this.columns.slice(0, -1).map(({ name }) => name), this.model.metrics[this.metric].name];
  }

  sortOf(i) {
    const { column, descending } = this.sorting;
    return i !== column ? "none" : descending ? "descending" : "ascending";
  }

  sort(i) {
    const { column, descending } = this.sorting;
    this.sorting = { column: i, descending: column === i ? !descending : i > 0 };
    this.draw();
    this.head.children[i].firstChild.focus();
  }

  // Orders the rows; those without a value come last.
  order() {
    const { column, descending } = this.sorting;
    const read = column === null ? null : this.columns[column].value;
    const compare = (a, b) => {
      const [x, y] = [read(a), read(b)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return (descending ? y - x : x - y) || a.number - b.number;
    };
    if (read) this.rows.sort(compare);
    this.table.setRows(this.rows);
  }

  // The line of a row, made when it is shown for the first time.
  lineOf(row) {
    row.line ??= el("tr", {}, el("th", { scope: "row" }, nameOf(row.label)),
      ...this.facts.map(({ value, text }) => el("td", {}, text(value(row)))), ...this.valueCells(row));
    return row.line;
  }

  valueCells({ value, low, high }) {
    const x = (number) => 4 + (192 * Math.max(0, Math.min(this.limit, number))) / this.limit;
    const picture = svg("svg", { class: "whisker", viewBox: "0 0 200 14" });
    if (Number.isFinite(this.overall))
      picture.append(svg("line", { class: "overall", x1: x(this.overall), x2: x(this.overall), y1: 0, y2: 14 }));
    if (!Number.isNaN(low)) picture.append(svg("line", { class: "range", x1: x(low), x2: x(high), y1: 7, y2: 7 }));
    if (Number.isFinite(value)) picture.append(svg("circle", { cx: x(value), cy: 7, r: 4 }));
    return [el("td", {}, fixed(value)), el("td", {}, Number.isNaN(low) ? "" : `${fixed(low)} … ${fixed(high)}`),
      el("td", {}, picture)];
  }

  // The table as text, for files.
  cells() {
    const measured = ({ value, low, high }) => [value, low, high].map((end) => (Number.isNaN(end) ? "" : end));
    const rows = this.rows.map((row) => [row.label, ...this.facts.map(({ value }) => value(row)), ...measured(row)]);
    if (this.average) rows.push([this.grouping.average, ...this.facts.map(() => ""), ...measured(this.average)]);
    return [[...this.names(), "low", "high"], ...rows];
  }
}

function withLimits(limits) {
  const [value, low, high] = limits.map(unpackNumber);
  return { value, low, high };
}
