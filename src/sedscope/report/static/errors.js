// Where the errors come from: every detection and every reference in one bin.

import { button, byId, el, nameOf, svg } from "./dom.js";
import { saveCsv, saveLatex } from "./exports.js";
import { fixed, signed, whole } from "./format.js";
import { Tally } from "./model.js";

const WORDS = {
  found: "found", true: "true", missed: "missed", fragmented: "fragmented", fragment: "fragment",
  merged: "merged", too_long: "too long", too_short: "too short", onset: "onset off", offset: "offset off",
  cross_trigger: "cross-trigger", background: "background",
};

export function addErrors(model, state) {
  if (!model.criteria.some((criterion) => criterion.events) || !model.counts[0].some((of) => of[0].bins)) return;
  const { reference_bins: referenceBins, detection_bins: detectionBins, causes } = model.data;
  const section = byId("errors");
  section.hidden = false;
  const about = el("p", { class: "about" });
  const bars = el("table", { class: "bins" });
  const gains = el("table", { class: "gains" });
  section.append(about, el("div", { class: "tools" },
    button("CSV", () => saveCsv("errors", cells())), button("LaTeX", () => saveLatex("errors", cells()))),
  el("div", { class: "split" }, el("div", { class: "scroll" }, bars), el("div", { class: "scroll" }, gains)));

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
    bars.hidden = !there;
    gains.hidden = !there;
    about.replaceChildren(there
      ? "At the chosen thresholds, each reference and each detection is in one bin. Point at a part of a bar to " +
        "read it. On the right, what the F-score would become if a cause were fixed."
      : `${model.criteria[state.criterion].definition} is not about events: choose another criterion above.`);
    if (!there) return;
    bars.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "class"),
        el("th", { scope: "col" }, "references"), el("th", { scope: "col" }, "detections"))),
      el("tbody", {}, ...model.labels.map((label, k) => line(nameOf(label), k)), line("all classes", null)),
      el("caption", {}, legend()));
    drawGains();
  }

  function line(name, k) {
    const [references, detections] = numbers(k);
    return el("tr", { class: k === null ? "total" : state.single === k ? "chosen" : "" },
      el("th", { scope: "row" }, name), el("td", {}, stack(referenceBins, references)),
      el("td", {}, stack(detectionBins, detections)));
  }

  function stack(bins, of) {
    const total = of.reduce((sum, one) => sum + one, 0);
    const described = bins.map((bin, b) => `${WORDS[bin]} ${of[b]}`).join(", ");
    const picture = svg("svg", { class: "stack", viewBox: "0 0 300 16", preserveAspectRatio: "none",
      role: "img", "aria-label": described });
    let at = 0;
    bins.forEach((bin, b) => {
      if (!of[b]) return;
      const width = (300 * of[b]) / total;
      picture.append(svg("rect", { class: `bin b-${bin}`, x: at, y: 0, width, height: 16 },
        svg("title", {}, `${WORDS[bin]}: ${whole(of[b])} of ${whole(total)}`)));
      at += width;
    });
    return el("span", { class: "stacked" }, picture, el("span", { class: "number" }, whole(total)));
  }

  function legend() {
    const names = [...new Set([...referenceBins, ...detectionBins])];
    return el("span", { class: "legend" }, ...names.map((bin) => el("span", {},
      svg("svg", { class: "swatch", viewBox: "0 0 22 10" },
        svg("rect", { class: `bin b-${bin}`, x: 0, y: 0, width: 22, height: 10 })), WORDS[bin])));
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
