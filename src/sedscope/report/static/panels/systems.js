// Several systems side by side: their values, and differences with intervals.

import { button, el, nameOf, select, svg } from "../dom.js";
import { saveCsv, saveLatex } from "../exports.js";
import { capitalised, fixed, short, signed } from "../format.js";
import { LongTable } from "../long_table.js";
import { unpackNumber } from "../model.js";
import { registerPanel } from "../panel.js";

const VERDICTS = { 1: "better", 0: "≈ inside the noise", "-1": "worse" };

registerPanel("systems", ({ section, data, model }) => {
  const [head, foot] = [el("tr"), el("tr", { class: "total" })];
  const table = new LongTable(head, foot, lineOf, { class: "differences" });
  let [metric, pair, limit] = [0, 0, 0];
  // The later system, then the earlier one, so that an improvement is positive.
  const pairs = model.systems.flatMap((_, earlier) =>
    model.systems.slice(earlier + 1).map((_other, i) => [earlier + 1 + i, earlier]));
  const pairName = ([later, earlier]) => `${model.systems[later]} − ${model.systems[earlier]}`;
  section.append(
    el("p", { class: "about" }, "A difference is the value of the later system minus that of the earlier one. ",
      data.about ? `${data.about.split("; ").map(capitalised).join(". ")}. The p values of single classes are not corrected.`
        : "To get intervals, run sedscope compare with --report."),
    el("div", { class: "row" },
      select("Metric", model.metrics.map(({ name }, m) => [m, name]), (value) => {
        metric = Number(value);
        draw();
      }),
      select("Difference", pairs.map((systems, i) => [i, pairName(systems)]), (value) => {
        pair = Number(value);
        draw();
      }),
      el("span", { class: "tools" }, table.searchField, button("CSV", () => saveCsv("differences", cells(["p", "p_corrected"], ({ p, corrected }) => [p, corrected]))),
        button("LaTeX", () => saveLatex("differences", cells(["p"], ({ pText }) => [pText]), isBest)))),
    table.holder);

  // The differences of the chosen systems, if they were compared.
  function comparedPair() {
    return data.differences && data.differences[metric].find((entry) => String(entry.pair) === String(pairs[pair]));
  }

  // The difference of a class, or of all classes with c = null. Without a comparison, it is all there is.
  function difference(entry, c) {
    if (entry) {
      const [value, low, high, p, verdict] = (c === null ? entry.overall : entry.per_class[c]).map(unpackNumber);
      return { value, low, high, p, verdict, corrected: c === null ? unpackNumber(entry.p_corrected) : NaN,
        pText: Number.isNaN(p) ? "" : entry.p_texts.at(c === null ? -1 : c) };
    }
    const [later, earlier] = pairs[pair].map((s) => valueOf(s, c));
    return { value: later - earlier, low: NaN, high: NaN, p: NaN, verdict: null, corrected: NaN, pText: "" };
  }

  // The chosen systems in the order of the page.
  function shownSystems() {
    return [...pairs[pair]].reverse();
  }

  function valueOf(s, c) {
    const { value, perClass } = model.values[s][metric];
    return c === null ? value : perClass[c];
  }

  // A row for each class, and the one of all classes at the end.
  function rows() {
    const entry = comparedPair();
    return [...model.page.classes.map((label, c) => [label, c]), ["overall", null]].map(([label, c]) => ({ label,
      total: c === null, values: shownSystems().map((s) => valueOf(s, c)), difference: difference(entry, c) }));
  }

  // The cells of the saved table. `pCells`: those of p, by difference.
  function cells(pNames, pCells) {
    const number = (cell) => (Number.isNaN(cell) ? "" : cell);
    return [["class", ...shownSystems().map((s) => model.systems[s]), "difference", "low", "high", ...pNames],
      ...rows().map(({ label, values, difference }) =>
        [label, ...[...values, difference.value, difference.low, difference.high, ...pCells(difference)].map(number)])];
  }

  // Whether a cell of the saved table is the better one of the two systems.
  function isBest(row, column) {
    const [mine, other] = [row[column], row[3 - column]];
    if (column < 1 || column > 2 || typeof mine !== "number") return false;
    return other === "" || (model.metrics[metric].higher_is_better ? mine >= other : mine <= other);
  }

  function draw() {
    const lines = rows();
    limit = lines.flatMap(({ difference: { value, low, high } }) => [value, low, high])
      .filter(Number.isFinite).reduce((largest, end) => Math.max(largest, Math.abs(end)), 0.01);
    const heading = (content) => el("th", { scope: "col" }, content);
    head.replaceChildren(heading("class"), ...shownSystems().map((s) => heading(nameOf(model.systems[s]))),
      heading("difference"), ...(data.differences ? [heading("interval")] : []),
      el("th", { scope: "col", class: "drawn" }, `−${short(limit, 2)} … +${short(limit, 2)}`),
      ...(data.differences ? [heading("p"), el("th", { scope: "col", class: "verdict" }, "verdict")] : []));
    foot.replaceChildren(...cellsOf(lines.pop()));
    table.setRows(lines);
  }

  // The line of a row, made when it is shown for the first time.
  function lineOf(row) {
    row.line ??= el("tr", {}, ...cellsOf(row));
    return row.line;
  }

  function cellsOf({ label, total, values, difference: { value, low, high, verdict, pText } }) {
    const x = (number) => 100 + (95 * Math.max(-limit, Math.min(limit, number))) / limit;
    const bar = svg("svg", { class: "whisker", viewBox: "0 0 200 14" },
      svg("line", { class: "zero", x1: 100, x2: 100, y1: 0, y2: 14 }));
    if (!Number.isNaN(low)) bar.append(svg("line", { class: "range", x1: x(low), x2: x(high), y1: 7, y2: 7 }));
    if (Number.isFinite(value)) bar.append(svg("circle", { cx: x(value), cy: 7, r: 4 }));
    return [el("th", { scope: "row" }, nameOf(label)),
      ...values.map((number) => el("td", {}, fixed(number))),
      el("td", {}, signed(value)),
      ...(data.differences ? [el("td", {}, Number.isNaN(low) ? "" : `${signed(low)} … ${signed(high)}`)] : []),
      el("td", {}, bar),
      ...(data.differences ? [el("td", { title: total ? "corrected for the number of pairs" : "not corrected" }, pText),
        el("td", { class: `verdict v${verdict}` }, verdict === null || Number.isNaN(value) ? "" : VERDICTS[verdict])] : [])];
  }

  draw();
});
