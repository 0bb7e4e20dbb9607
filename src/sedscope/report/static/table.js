// The class table: values, small curves, sliders, counts. Sortable.

import { button, byId, el, keepingFocus, nameOf, svg } from "./dom.js";
import { saveCsv, saveLatex } from "./exports.js";
import { fixed, short, whole } from "./format.js";
import { look, sampled } from "./looks.js";

export class ClassTable {
  constructor(model, state) {
    Object.assign(this, { model, state, sorting: { column: null, falling: false } });
    this.columns = this.makeColumns();
    this.rows = model.data.classes.map((label, c) => this.makeRow(label, c));
    this.head = el("tr", {}, ...this.columns.map((column, i) => this.heading(column, i)));
    this.body = el("tbody");
    this.foot = el("tr");
    this.order();
    this.fill();
    byId("classes").append(
      el("p", { class: "about" }, "Metrics are of all thresholds; counts are those at the threshold of each " +
        "class, by the chosen criterion. Bars are values, with intervals where there are any." +
        (this.rows.every((row) => row.slider) ? "" : " Counts are of the classes with most references.")),
      el("div", { class: "tools" },
        button("CSV", () => saveCsv("classes", this.cells()), { title: "Save the table as CSV" }),
        button("LaTeX", () => saveLatex("classes", this.cells()), { title: "Save the table as LaTeX" })),
      el("div", { class: "scroll" },
        el("table", { id: "table" }, el("thead", {}, this.head), this.body, el("tfoot", {}, this.foot))));
    state.listen(() => this.fill());
  }

  makeColumns() {
    const { model } = this;
    const counted = (name, title, read, text) => ({ name, title, text,
      value: (row) => (row.k === null ? NaN : read(this.state.tally(row.k))),
      total: (all) => text(read(all)) });
    return [
      { name: "class", value: (row) => row.label, cell: (row) => this.nameCell(row) },
      { name: "references", value: (row) => row.references, text: whole,
        total: () => whole(model.data.references.reduce((sum, one) => sum + one, 0)) },
      ...model.metrics.map((metric, m) => ({
        name: `[${m + 1}]`, title: metric.definition,
        value: (row) => this.values(m).per_class[row.c] ?? NaN,
        cell: (row) => this.valueCell(m, row.c),
        total: () => fixed(this.values(m).value ?? NaN),
      })),
      { name: "curve", fixed: true, cell: (row) => this.sparkline(row) },
      { name: "threshold", value: (row) => (row.k === null ? NaN : this.state.threshold(row.k)),
        cell: (row) => row.slider && row.slider.holder },
      counted("TP", "references found", (tally) => tally.tp, whole),
      counted("FP", "false detections", (tally) => tally.fp, whole),
      counted("FN", "references missed", (tally) => tally.fn, whole),
      counted("CT", "cross-triggers", (tally) => tally.crossed ?? NaN, whole),
      counted("precision", "", (tally) => tally.precision, (value) => fixed(value, 3)),
      counted("recall", "", (tally) => tally.recall, (value) => fixed(value, 3)),
      counted("F1", "", (tally) => tally.f1, (value) => fixed(value, 3)),
      counted("ER", "error rate: missed and false per reference", (tally) => tally.errorRate,
        (value) => fixed(value, 3)),
      counted("FA/h", "false alarms per hour", (tally) => tally.falseAlarms, (value) => short(value, 4)),
    ];
  }

  values(m) {
    return this.model.data.values[this.state.system][m];
  }

  heading(column, i) {
    const label = column.fixed ? column.name : button(column.name, () => this.sort(i),
      { title: column.title ? `${column.title} – sort` : "sort" });
    return el("th", { scope: "col", class: column.fixed ? "screen" : null }, label);
  }

  makeRow(label, c) {
    const at = this.model.data.shown.indexOf(c);
    const k = at < 0 ? null : at;
    const row = { label, c, k, references: this.model.data.references[c] };
    if (k !== null) row.slider = this.makeSlider(k, label);
    row.line = el("tr", { "data-class": label });
    return row;
  }

  makeSlider(k, label) {
    const last = this.model.stops[k].length - 1;
    const input = el("input", { type: "range", min: 0, max: last, step: 1,
      "aria-label": `threshold of ${label}`,
      oninput: () => this.state.setStop(k, last - Number(input.value)) });
    const text = el("span", { class: "number" });
    return { input, text, last, holder: el("span", { class: "slider" }, input, text) };
  }

  nameCell(row) {
    if (row.k === null) return nameOf(row.label);
    const chosen = this.state.single === row.k;
    return el("button", { type: "button", class: "plain", "aria-pressed": String(chosen), title: row.label,
      onclick: () => this.state.set({ single: chosen ? null : row.k }) },
    ...sampled(row.k, row.label));
  }

  valueCell(m, c) {
    const { per_class: values, intervals } = this.values(m);
    const value = values[c] ?? NaN;
    const bar = svg("svg", { class: "bar", viewBox: "-1 0 66 8" });
    const at = (one) => 64 * Math.min(1, Math.max(0, one));
    if (Number.isFinite(value)) {
      bar.append(svg("rect", { class: "track", y: 2, width: 64, height: 4 }),
        svg("rect", { class: "filled", y: 2, width: at(value), height: 4 }));
      if (intervals && intervals[c] && intervals[c][0] !== null) {
        const [low, high] = intervals[c].map(at);
        bar.append(svg("path", { class: "interval", d: `M${low} 0V8M${low} 4H${high}M${high} 0V8` }));
      }
    }
    const limits = intervals && intervals[c] && intervals[c][0] !== null
      ? `${fixed(intervals[c][0])} to ${fixed(intervals[c][1])}` : null;
    return el("span", { class: "measure", title: limits }, fixed(value), bar);
  }

  sparkline(row) {
    if (row.k === null || !row.references) return "";
    const { tp, fp } = this.model.curves[this.state.system][this.state.criterion][row.k];
    const references = this.model.referencesOf(this.state.criterion, row.k);
    const every = Math.max(1, Math.floor(tp.length / 60));
    const points = [];
    for (let i = 0; i < tp.length; i += every) {
      const precision = tp[i] + fp[i] ? tp[i] / (tp[i] + fp[i]) : 1;
      points.push(`${((60 * tp[i]) / references).toFixed(1)} ${(20 - 18 * precision).toFixed(1)}`);
    }
    return svg("svg", { class: "spark", viewBox: "0 0 62 22", role: "img",
      "aria-label": "precision over recall" }, svg("path", { class: `curve ${look(row.k).colour}`,
      d: `M${points.join("L")}` }));
  }

  sort(i) {
    const { column, falling } = this.sorting;
    const numbers = typeof this.columns[i].value(this.rows[0]) === "number";
    this.sorting = { column: i, falling: column === i ? !falling : numbers };
    this.order();
  }

  // Only when it is asked for: rows that move away while their slider is held would be a nuisance.
  order() {
    const { column, falling } = this.sorting;
    const compare = (a, b) => {
      const [x, y] = [a, b].map((row) => this.columns[column].value(row));
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1);
    };
    this.ordered = column === null ? [...this.rows] : [...this.rows].sort(compare);
    this.body.replaceChildren(...this.ordered.map((row) => row.line));
    [...this.head.children].forEach((cell, i) => cell.setAttribute("aria-sort",
      i !== column ? "none" : falling ? "descending" : "ascending"));
  }

  fill() {
    for (const row of this.rows) this.fillRow(row);
    const tallies = this.model.labels.map((_, k) => this.state.tally(k));
    const all = tallies.reduce((sum, one) => sum.plus(one));
    this.foot.replaceChildren(...this.columns.map((one, i) =>
      el(i ? "td" : "th", { class: one.fixed ? "screen" : null }, i ? (one.total ? one.total(all) : "") : "overall")));
  }

  fillRow(row) {
    const { state } = this;
    row.line.classList.toggle("chosen", state.single !== null && state.single === row.k);
    if (row.slider) {
      row.slider.input.value = row.slider.last - state.stops[state.system][row.k];
      row.slider.text.replaceChildren(short(state.threshold(row.k), 4));
      row.slider.input.setAttribute("aria-valuetext", row.slider.text.textContent);
    }
    if (!row.cells) {
      row.cells = this.columns.map((column, i) => el(i ? "td" : "th",
        i ? { class: column.fixed ? "screen" : null } : { scope: "row" }));
      row.line.append(...row.cells);
    }
    const shown = `${state.system},${state.criterion},${state.single === row.k}`;
    this.columns.forEach((column, i) => {
      if (!column.cell) row.cells[i].replaceChildren(column.text(column.value(row)));
      else if (row.look !== shown && column.name !== "threshold")
        keepingFocus(row.cells[i], () => row.cells[i].replaceChildren(column.cell(row)));
      else if (column.name === "threshold" && !row.cells[i].firstChild && row.slider)
        row.cells[i].append(row.slider.holder);
    });
    row.look = shown;
  }

  // The table as texts, for files.
  cells() {
    const columns = this.columns.filter((column) => !column.fixed);
    const text = (column, row) => {
      const value = column.value(row);
      if (typeof value === "string") return value;
      return Number.isNaN(value) ? "" : column.text ? column.text(value).replaceAll("\u2009", "") : short(value, 17);
    };
    return [columns.map((column) => column.title || column.name),
      ...this.ordered.map((row) => columns.map((column) => text(column, row)))];
  }
}
