// Several systems side by side: values, and differences with their intervals.

import { button, byId, el, nameOf, select, svg } from "./dom.js";
import { saveCsv, saveLatex } from "./exports.js";
import { fixed, short, signed } from "./format.js";

const SIGNS = { 1: "better", 0: "≈ inside the noise", "-1": "worse" };

export function addSystems(model) {
  if (model.systems.length < 2) return;
  const section = byId("systems");
  section.hidden = false;
  const table = el("table", { class: "differences" });
  let [metric, pair] = [0, 0];
  const pairs = [];
  model.systems.forEach((_, one) => model.systems.forEach((_other, other) => {
    if (one < other) pairs.push([one, other]);
  }));
  const name = ([one, other]) => `${model.systems[one]} − ${model.systems[other]}`;
  section.append(
    el("p", { class: "about" }, "A difference is more than chance if its interval does not contain 0. ",
      model.data.differences ? "" : "Intervals need a comparison: sedscope compare --report."),
    el("div", { class: "row" },
      select("Metric", model.metrics.map((one, m) => [m, `[${m + 1}] ${one.definition}`]), (value) => {
        metric = Number(value);
        draw();
      }),
      select("Difference", pairs.map((one, i) => [i, name(one)]), (value) => {
        pair = Number(value);
        draw();
      }),
      el("span", { class: "tools" }, button("CSV", () => saveCsv("differences", cells())),
        button("LaTeX", () => saveLatex("differences", cells())))),
    el("div", { class: "scroll" }, table));

  // [value, low, high, p, verdict] for a class, or for all with c = null
  function difference(c) {
    if (model.data.differences) {
      const found = model.data.differences[metric].find((one) => String(one.pair) === String(pairs[pair]));
      return c === null ? found.overall : found.per_class[c];
    }
    const [one, other] = pairs[pair].map((s) => valueOf(s, c));
    return [one - other, null, null, null, null];
  }

  function valueOf(s, c) {
    const values = model.data.values[s][metric];
    return (c === null ? values.value : values.per_class[c]) ?? NaN;
  }

  function rows() {
    return [...model.data.classes.map((label, c) => [label, c]), ["overall", null]].map(([label, c]) =>
      ({ label, total: c === null, values: pairs[pair].map((s) => valueOf(s, c)), difference: difference(c) }));
  }

  function cells() {
    return [["class", ...pairs[pair].map((s) => model.systems[s]), "difference", "low", "high", "p"],
      ...rows().map(({ label, values, difference: [value, low, high, p] }) =>
        [label, ...values, value ?? "", low ?? "", high ?? "", p ?? ""])];
  }

  function draw() {
    const found = rows();
    const reach = Math.max(0.01, ...found.flatMap(({ difference: [value, low, high] }) =>
      [value, low, high].filter((one) => Number.isFinite(one)).map(Math.abs)));
    table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "class"),
        ...pairs[pair].map((s) => el("th", { scope: "col" }, nameOf(model.systems[s]))),
        el("th", { scope: "col" }, "difference"), el("th", { scope: "col" }, "interval"),
        el("th", { scope: "col" }, `−${short(reach, 2)} … +${short(reach, 2)}`), el("th", { scope: "col" }, "p"),
        el("th", { scope: "col" }, ""))),
      el("tbody", {}, ...found.map((row) => line(row, reach))));
  }

  function line({ label, total, values, difference: [value, low, high, p, verdict] }, reach) {
    const at = (one) => 100 + (98 * one) / reach;
    const bar = svg("svg", { class: "whisker", viewBox: "0 0 200 14" },
      svg("line", { class: "zero", x1: 100, x2: 100, y1: 0, y2: 14 }));
    if (low !== null && low !== undefined)
      bar.append(svg("line", { class: "range", x1: at(low), x2: at(high), y1: 7, y2: 7 }));
    if (Number.isFinite(value)) bar.append(svg("circle", { cx: at(value), cy: 7, r: 4 }));
    const known = Number.isFinite(low);
    return el("tr", { class: total ? "total" : "" }, el("th", { scope: "row" }, nameOf(label)),
      ...values.map((one) => el("td", {}, fixed(one))),
      el("td", {}, signed(value ?? NaN)), el("td", {}, known ? `${signed(low)} … ${signed(high)}` : ""),
      el("td", {}, bar), el("td", {}, p === null || p === undefined ? "" : p < 0.001 ? "< 0.001" : p.toFixed(3)),
      el("td", { class: `verdict v${verdict}` }, verdict === null ? "" : SIGNS[verdict]));
  }

  draw();
}
