// The table of classes: values, small curves, sliders and counts. The user can sort it.

import { button, el, keepingFocus, nameOf, printable, svg } from "../dom.js";
import { saveCsv, saveLatex } from "../exports.js";
import { aligned, amount, digitsFor, falseAlarmRate, fixed, whole } from "../format.js";
import { LongTable } from "../long_table.js";
import { registerPanel } from "../panel.js";
import { curveStyle, labelWithSample, shapeAt } from "../styles.js";

registerPanel("classes", ({ section, model, state }) => new ClassTable(section, model, state));

class ClassTable {
  constructor(section, model, state) {
    Object.assign(this, { model, state, sorting: { column: null, descending: false } });
    this.columns = this.makeColumns();
    this.thresholdDigits = digitsFor(model.thresholds.flat());
    this.ends = model.metrics.map((_, m) => barEnd(model.values.map((byMetric) => byMetric[m])));
    const details = new Map(model.page.detailed.map((c, k) => [c, k]));
    this.rows = model.page.classes.map((label, c) =>
      ({ label, c, k: details.get(c) ?? null }));
    this.head = el("tr", {}, ...this.columns.map((column, i) => this.heading(column, i)));
    this.foot = el("tr");
    this.table = new LongTable(this.head, this.foot, (row) => this.lineOf(row), { id: "table" });
    section.append(
      el("p", { class: "about" }, "Sliders do not change the values of metrics. Counts are those at the threshold of each " +
        "class, by the chosen criterion; the last row adds them up over the classes. Bars show values and their intervals, if " +
        "there are any, from 0 to 1, or to the largest number in the column if that is above 1." +
        (this.rows.every((row) => row.k !== null) ? "" : " Only the classes with the most references have counts.")),
      el("div", { class: "tools" }, this.table.searchField,
        button("CSV", () => saveCsv("classes", this.cells()), { title: "Save the table as CSV" }),
        button("LaTeX", () => saveLatex("classes", this.cells()), { title: "Save the table as LaTeX" })),
      this.table.holder);
    this.order();
    this.fill();
    state.listen(() => this.fill());
  }

  makeColumns() {
    const { model } = this;
    const countColumn = (name, title, read, text) => ({ name, title, text,
      value: (row) => (row.k === null ? NaN : read(this.state.tally(row.k))),
      total: (tally) => text(read(tally)) });
    const amountText = (value) => amount(value, this.criterion());
    return [
      { name: "class", value: (row) => row.label, cell: (row) => this.nameCell(row) },
      { name: "references", heading: () => (this.criterion().trials === null ? "references" : "positives"), text: amountText,
        title: "events to find, or segments or time with the class, by the chosen criterion",
        value: (row) => this.references()[row.c],
        total: () => amountText(this.references().reduce((sum, number) => sum + number, 0)) },
      ...model.metrics.map((metric, m) => ({
        name: metric.name, title: metric.definition, heading: () => metric.name,
        value: (row) => this.values(m).perClass[row.c],
        cell: (row) => this.valueCell(m, row.c),
        total: () => fixed(this.values(m).value),
      })),
      { name: "curve", fixed: true, cell: (row) => this.sparkline(row) },
      { name: "threshold", value: (row) => (row.k === null ? NaN : this.state.threshold(row.k)),
        cell: (row) => row.slider && row.slider.holder },
      countColumn("TP", "references found", (tally) => tally.tp, amountText),
      countColumn("FP", "false detections", (tally) => tally.fp, amountText),
      countColumn("FN", "references missed", (tally) => tally.fn, amountText),
      countColumn("CT", "cross-triggers", (tally) => tally.crossTriggers ?? NaN, whole),
      countColumn("precision", "", (tally) => tally.precision, fixed),
      countColumn("recall", "", (tally) => tally.recall, fixed),
      countColumn("F1", "", (tally) => tally.f1, fixed),
      countColumn("ER", "error rate: missed and false per reference", (tally) => tally.errorRate,
        fixed),
      countColumn("FA/h", "false alarms per hour", (tally) => tally.falseAlarms,
        (value) => falseAlarmRate(value, model.hours, this.criterion())),
    ];
  }

  values(m) {
    return this.model.values[this.state.system][m];
  }

  criterion() {
    return this.model.criteria[this.state.criterion];
  }

  // How many events of each class there are to find by the chosen criterion, or positive segments.
  references() {
    return this.criterion().references;
  }

  heading(column, i) {
    const label = column.fixed ? column.name : button(column.name, () => this.sort(i),
      { title: column.title ? `${column.title} – sort` : "sort" });
    return el("th", { scope: "col", class: column.fixed ? "screen" : null }, label);
  }

  // The line of a row, made when it is shown for the first time.
  lineOf(row) {
    if (!row.line) {
      if (row.k !== null) row.slider = this.makeSlider(row.k, row.label);
      row.cells = this.columns.map((column, i) => el(i ? "td" : "th",
        i ? { class: column.fixed ? "screen" : null } : { scope: "row" }));
      row.line = el("tr", { "data-class": row.label }, ...row.cells);
    }
    this.fillRow(row);
    return row.line;
  }

  makeSlider(k, label) {
    const last = this.model.thresholds[k].length - 1;
    const input = el("input", { type: "range", min: 0, max: last, step: 1,
      "aria-label": `threshold of ${label}`,
      oninput: () => this.state.setPosition(k, last - Number(input.value)) });
    const text = el("span", { class: "number" });
    return { input, text, last, holder: el("span", { class: "slider" }, input, text) };
  }

  nameCell(row) {
    if (row.k === null) return nameOf(row.label);
    return el("button", { type: "button", class: "plain", title: row.label,
      "aria-pressed": String(this.state.selectedClass === row.k), onclick: () => this.state.toggleClass(row.k) },
    ...labelWithSample(row.k, row.label));
  }

  valueCell(m, c) {
    const { perClass, intervals } = this.values(m);
    const value = perClass[c];
    const limits = intervals && !Number.isNaN(intervals[c][0]) ? intervals[c] : null;
    const bar = svg("svg", { class: "bar", viewBox: "-1 0 66 8" });
    const x = (number) => (64 * Math.min(this.ends[m], Math.max(0, number))) / this.ends[m];
    if (Number.isFinite(value)) {
      bar.append(svg("rect", { class: "track", y: 2, width: 64, height: 4 }),
        svg("rect", { class: "filled", y: 2, width: x(value), height: 4 }));
      if (limits) {
        const [low, high] = limits.map(x);
        bar.append(svg("path", { class: "interval", d: `M${low} 0V8M${low} 4H${high}M${high} 0V8` }));
      }
    }
    const title = limits ? `${fixed(limits[0])} to ${fixed(limits[1])}` : null;
    return el("span", { class: "measure", title }, fixed(value), bar);
  }

  sparkline(row) {
    const references = this.references()[row.c];
    if (row.k === null || !references) return "";
    const { tp, fp } = this.model.curves[this.state.system][this.state.criterion].classes[row.k];
    const every = Math.max(1, Math.floor(tp.length / 60));
    const points = tp.map((_, i) => {
      const precision = tp[i] + fp[i] ? tp[i] / (tp[i] + fp[i]) : 1;
      return [(60 * tp[i]) / references, 20 - 18 * precision];
    });
    const path = points.filter((_, i) => i % every === 0).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);
    const onePoint = this.model.isOnePoint(this.state.system, this.state.criterion, row.k);
    return svg("svg", { class: "spark", viewBox: "0 0 62 22", role: "img",
      "aria-label": "precision over recall" }, onePoint ? shapeAt(...points.at(-1), row.k, { class: "shape" }, 0.8)
      : svg("path", { class: `curve ${curveStyle(row.k).colour}`, d: `M${path.join("L")}` }));
  }

  sort(i) {
    const { column, descending } = this.sorting;
    const numeric = typeof this.columns[i].value(this.rows[0]) === "number";
    this.sorting = { column: i, descending: column === i ? !descending : numeric };
    this.order();
  }

  // Orders the rows. A slider does not do that: its row would move away under the pointer.
  order() {
    const { column, descending } = this.sorting;
    const compare = ({ value: x }, { value: y }) => {
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return (x < y ? -1 : x > y ? 1 : 0) * (descending ? -1 : 1);
    };
    this.ordered = column === null ? [...this.rows]
      : this.rows.map((row) => ({ row, value: this.columns[column].value(row) })).sort(compare).map(({ row }) => row);
    this.table.setRows(this.ordered);
    [...this.head.children].forEach((cell, i) => cell.setAttribute("aria-sort",
      i !== column ? "none" : descending ? "descending" : "ascending"));
  }

  fill() {
    for (const row of this.table.shown) this.fillRow(row);
    this.columns.forEach(({ heading }, i) => {
      const label = this.head.children[i].firstChild;
      const text = heading && printable(heading());
      if (heading && label.textContent !== text) label.replaceChildren(text);
    });
    const tally = this.state.totalTally();
    this.foot.replaceChildren(...this.columns.map((column, i) => el(i ? "td" : "th",
      { class: column.fixed ? "screen" : null, scope: i ? null : "row" }, i ? (column.total ? column.total(tally) : "") : "overall")));
  }

  fillRow(row) {
    const { state } = this;
    const selected = state.selectedClass !== null && state.selectedClass === row.k;
    const version = `${state.system},${state.criterion},${selected}`; // of cells that ignore the slider
    if (row.k === null && row.version === version) return;
    row.line.classList.toggle("chosen", selected);
    if (row.slider) {
      row.slider.input.value = row.slider.last - state.positions[state.system][row.k];
      row.slider.text.replaceChildren(aligned(state.threshold(row.k), this.thresholdDigits));
      row.slider.input.setAttribute("aria-valuetext", row.slider.text.textContent);
    }
    this.columns.forEach((column, i) => {
      if (!column.cell) row.cells[i].replaceChildren(column.text(column.value(row)));
      else if (row.version !== version && column.name !== "threshold")
        keepingFocus(row.cells[i], () => row.cells[i].replaceChildren(column.cell(row)));
      else if (column.name === "threshold" && !row.cells[i].firstChild && row.slider)
        row.cells[i].append(row.slider.holder);
    });
    row.version = version;
  }

  // The table as text, for files.
  cells() {
    const columns = this.columns.filter((column) => !column.fixed);
    const cell = (column, row) => {
      const value = column.value(row);
      return Number.isNaN(value) ? "" : value;
    };
    return [columns.map((column) => column.heading?.() || column.title || column.name),
      ...this.ordered.map((row) => columns.map((column) => cell(column, row)))];
  }
}

// Where the bars of a metric end: at 1, or at the largest number of any class and system if that is above 1.
function barEnd(systems) {
  return systems.flatMap(({ perClass, intervals }) => [...perClass, ...(intervals ?? []).flat()])
    .filter(Number.isFinite).reduce((largest, number) => Math.max(largest, number), 1);
}
