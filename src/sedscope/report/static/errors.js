// Where the errors come from: every detection and every reference in one bin.

import { otherCriterion } from "./controls.js";
import { button, byId, el, nameOf, svg } from "./dom.js";
import { keyPieces, saveCsv, saveLatex, savePieces } from "./exports.js";
import { clipped, fixed, signed, whole } from "./format.js";
import { swatch } from "./looks.js";
import { Tally } from "./model.js";
import { roving } from "./roving.js";
import { hideTip, showTip } from "./tip.js";

const WORDS = {
  found: "found", true: "true", missed: "missed", fragmented: "fragmented", fragment: "fragment",
  merged: "merged", too_long: "too long", too_short: "too short", onset: "onset off", offset: "offset off",
  cross_trigger: "cross-trigger", background: "background",
};
// Bins of references and of detections that look alike.
const ALIKE = { found: "true", missed: "background", fragmented: "fragment" };

export function addErrors(model, state) {
  if (!model.criteria.some((criterion) => criterion.events) || !model.counts[0].some((of) => of[0].bins)) return;
  const { reference_bins: referenceBins, detection_bins: detectionBins, causes } = model.data;
  const section = byId("errors");
  section.hidden = false;
  const about = el("p", { class: "about" });
  const bars = el("table", { class: "bins" });
  const settle = roving(bars, ".stack");
  const key = el("p", { class: "key small" }, ...legend());
  const gains = el("table", { class: "gains" });
  const tools = el("div", { class: "tools" },
    button("CSV", () => saveCsv("errors", cells())), button("LaTeX", () => saveLatex("errors", cells())),
    button("SVG", () => saveBars(), { title: "Save the bars as SVG" }));
  section.append(about, tools, el("div", { class: "split" },
    el("div", {}, el("div", { class: "scroll" }, bars), key), el("div", { class: "scroll" }, gains)));

  // How many are in each bin: of a class, or of all with k = null.
  function numbers(k) {
    const classes = k === null ? model.labels.map((_, c) => c) : [k];
    return [referenceBins, detectionBins].map((bins, side) => bins.map((_, b) =>
      classes.reduce((sum, c) => sum + model.counts[state.system][state.criterion][c].bins[side][b][
        state.stops[state.system][c]], 0)));
  }

  function tallyOf(k) {
    if (k !== null) return state.tally(k);
    return model.labels.map((_, c) => state.tally(c)).reduce((sum, one) => sum.plus(one));
  }

  function cells() {
    const rows = [["class", "side", ...new Set([...referenceBins, ...detectionBins])]];
    [...model.labels.map((label, k) => [label, k]), ["all classes", null]].forEach(([label, k]) => {
      numbers(k).forEach((of, side) => {
        const bins = side ? detectionBins : referenceBins;
        rows.push([label, side ? "detections" : "references", ...rows[0].slice(2).map((name) =>
          (bins.includes(name) ? of[bins.indexOf(name)] : ""))]);
      });
    });
    return rows;
  }

  function draw() {
    const there = model.criteria[state.criterion].events;
    for (const part of [tools, bars, key, gains]) part.hidden = !there;
    section.classList.toggle("screen", !there);
    about.replaceChildren(...(there
      ? ["At the chosen thresholds, each reference and each detection is in one bin. ",
        el("span", { class: "screen" }, "Point at a bar to read it. "),
        "The second table tells what the F-score would become if a cause were fixed."]
      : otherCriterion(model, state, "is not about events", (criterion) => criterion.events)));
    if (!there) return;
    bars.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "class"),
        el("th", { scope: "col" }, "references"), el("th", { scope: "col" }, "detections"))),
      el("tbody", {}, ...model.labels.map((label, k) => line(label, k)), line("all classes", null)));
    settle();
    drawGains();
  }

  function line(label, k) {
    const [references, detections] = numbers(k);
    return el("tr", { class: k === null ? "total" : state.single === k ? "chosen" : "" },
      el("th", { scope: "row" }, nameOf(label)), el("td", {}, stack(`${label}: references`, referenceBins, references)),
      el("td", {}, stack(`${label}: detections`, detectionBins, detections)));
  }

  function stack(name, bins, of) {
    const total = of.reduce((sum, one) => sum + one, 0);
    const told = bins.map((bin, b) => `${WORDS[bin]} ${whole(of[b])}`).filter((_, b) => of[b]);
    const picture = svg("svg", { class: "stack", role: "img",
      "aria-label": `${name}: ${told.join(", ") || "none"}` });
    const tell = () => {
      const box = picture.getBoundingClientRect();
      showTip(box.left, box.bottom - 10, name, told.length ? told : ["none"]);
    };
    for (const event of ["pointerenter", "focus"]) picture.addEventListener(event, tell);
    for (const event of ["pointerleave", "blur"]) picture.addEventListener(event, hideTip);
    let at = 0;
    bins.forEach((bin, b) => {
      if (!of[b]) return;
      const share = (100 * of[b]) / total;
      picture.append(svg("rect", { class: `bin b-${bin}`, x: `${at}%`, width: `${share}%`, height: "100%" }));
      at += share;
    });
    return el("div", {}, el("span", { class: "stacked" }, picture, el("span", { class: "number" }, whole(total))),
      el("div", { class: "told" }, told.join(", ")));
  }

  function legend() {
    const alike = Object.values(ALIKE);
    const names = [...new Set([...referenceBins, ...detectionBins])].filter((bin) => !alike.includes(bin));
    return names.map((bin) => swatch(`bin b-${bin}`,
      ALIKE[bin] ? `${WORDS[bin]}, ${WORDS[ALIKE[bin]]}` : WORDS[bin]));
  }

  function saveBars() {
    const rows = [...bars.tBodies[0].rows];
    const stacks = [...bars.querySelectorAll(".stack")];
    const totals = [...bars.querySelectorAll(".number")].map((one) => one.textContent);
    const pieces = [[200, 4, "references"], [480, 4, "detections"]];
    rows.forEach((row, r) => {
      const y = 24 + 20 * r;
      pieces.push([8, y, clipped(row.cells[0].textContent, 28)]);
      [200, 480].forEach((x, side) => pieces.push([x, y, stacks[2 * r + side], 220, 16],
        [x + 226, y, totals[2 * r + side]]));
    });
    const [entries, height] = keyPieces(key, 34 + 20 * rows.length, 4);
    savePieces("errors", [...pieces, ...entries], 760, height);
  }

  function drawGains() {
    const k = state.single;
    const now = tallyOf(k);
    const [references, detections] = numbers(k);
    const rows = Object.entries(causes).map(([cause, [reference, detection]]) => {
      const more = reference ? references[referenceBins.indexOf(reference)] : 0;
      const less = detection ? detections[detectionBins.indexOf(detection)] : 0;
      const then = new Tally(now.tp + more, now.fp - less, now.references, now.hours, null);
      return { cause, more, less, then };
    }).sort((a, b) => b.then.f1 - a.then.f1);
    gains.replaceChildren(
      el("thead", {}, el("tr", {}, ...["if fixed", "missed", "false", "F1", "gain", "error rate"].map((text) =>
        el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows.map(({ cause, more, less, then }) => el("tr", { "data-cause": cause },
        el("th", { scope: "row" }, WORDS[cause]), el("td", {}, more ? `−${whole(more)}` : ""),
        el("td", {}, less ? `−${whole(less)}` : ""), el("td", {}, fixed(then.f1, 3)),
        el("td", {}, signed(then.f1 - now.f1, 3)), el("td", {}, fixed(then.errorRate, 3))))),
      el("caption", {}, k === null ? "all classes together" : nameOf(model.labels[k])));
  }

  state.listen(draw);
  draw();
}
