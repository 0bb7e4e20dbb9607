// Where the errors come from: every reference and every detection has one error type.

import { addArrowKeys } from "../arrow_keys.js";
import { button, el, nameOf, svg } from "../dom.js";
import { errorPair, errorTypeName } from "../error_types.js";
import { keyParts, saveCollage, saveCsv, saveLatex } from "../exports.js";
import { clipped, fixed, signed, whole } from "../format.js";
import { Tally } from "../model.js";
import { goToPanel, registerPanel, suggestCriterion } from "../panel.js";
import { swatch } from "../styles.js";
import { hideTooltip, showTooltip } from "../tooltip.js";

// Types of references, and the types of detections that look the same.
const SAME_LOOK = { found: "true", missed: "background", fragmented: "fragment" };

registerPanel("errors", ({ section, data, model, state }) => {
  const { causes, reference_types: referenceTypes, detection_types: detectionTypes } = data;
  const sides = model.errorTypes.map(({ side, types }) => [side, types]);
  const allTypes = [...new Set([...referenceTypes, ...detectionTypes])];
  const hasClips = model.page.header.browsable_clips > 0;
  const about = el("p", { class: "about" });
  const bars = el("table", { class: "error-types" });
  const updateKeys = addArrowKeys(bars, ".stack");
  const key = el("p", { class: "key small" }, ...legend());
  const gains = el("table", { class: "gains" });
  const tools = el("div", { class: "tools" },
    button("CSV", () => saveCsv("errors", cells())), button("LaTeX", () => saveLatex("errors", cells())),
    button("SVG", () => saveBars(), { title: "Save the bars as SVG" }));
  section.append(about, tools, el("div", { class: "split" },
    el("div", {}, el("div", { class: "scroll" }, bars), key), el("div", { class: "scroll" }, gains)));

  // How many references and detections of a class, or of all classes with k = null, have each type.
  function eventCounts(k) {
    const classes = k === null ? model.labels.map((_, c) => c) : [k];
    return sides.map(([, types], side) => types.map((_, t) => classes.reduce((sum, c) =>
      sum + model.errorCounts[state.system][state.criterion][c][side][t][state.positions[state.system][c]], 0)));
  }

  function classesAndTotal() {
    return [...model.labels.map((label, k) => [label, k]), ["all classes", null]];
  }

  function cells() {
    const rows = classesAndTotal().flatMap(([label, k]) => eventCounts(k).map((numbers, side) => {
      const [name, types] = sides[side];
      return [label, name, ...allTypes.map((type) => (types.includes(type) ? numbers[types.indexOf(type)] : ""))];
    }));
    return [["class", "side", ...allTypes], ...rows];
  }

  function draw() {
    const shown = model.criteria[state.criterion].judges_events;
    for (const part of [tools, bars, key, gains]) part.hidden = !shown;
    section.classList.toggle("screen", !shown);
    about.replaceChildren(...(shown
      ? ["At the chosen thresholds, each reference and each detection has one error type. ",
        el("span", { class: "screen" }, `Point at a bar to read it${hasClips ? ", and click a part of it, a class or a cause to list its clips" : ""}. `),
        "The second table shows how F1 would change if one cause of errors were fixed."]
      : suggestCriterion(model, state, "does not judge events", (criterion) => criterion.judges_events)));
    if (!shown) return;
    bars.replaceChildren(
      el("thead", {}, el("tr", {}, ...["class", "references", "detections"].map((text) =>
        el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...classesAndTotal().map(([label, k]) => row(label, k))));
    updateKeys();
    drawGains();
  }

  function row(label, k) {
    const numbers = eventCounts(k);
    return el("tr", { class: k === null ? "total" : state.selectedClass === k ? "chosen" : "" },
      el("th", { scope: "row" }, lister(nameOf(label), k, "any")),
      ...sides.map(([side, types], i) => el("td", {}, stack(`${label}: ${side}`, types, numbers[i],
        (type) => list(k, i ? errorPair(null, type) : errorPair(type, null))))));
  }

  // Lists the clips with some errors of a class, or of all classes with k = null.
  function list(k, errors) {
    state.set({ selectedClass: k, errors });
    goToPanel("clips");
  }

  function lister(content, k, errors) {
    return hasClips ? button(content, () => list(k, errors)) : content;
  }

  function stack(name, types, numbers, onType) {
    const total = numbers.reduce((sum, number) => sum + number, 0);
    const lines = types.map((type, t) => `${errorTypeName(type)} ${whole(numbers[t])}`).filter((_, t) => numbers[t]);
    const picture = svg("svg", { class: "stack", role: "img",
      "aria-label": `${name}: ${lines.join(", ") || "none"}` });
    const describe = () => {
      const box = picture.getBoundingClientRect();
      showTooltip(box.left, box.bottom - 10, name, lines.length ? lines : ["none"]);
    };
    for (const event of ["pointerenter", "focus"]) picture.addEventListener(event, describe);
    for (const event of ["pointerleave", "blur"]) picture.addEventListener(event, hideTooltip);
    let left = 0;
    types.forEach((type, t) => {
      if (!numbers[t]) return;
      const share = (100 * numbers[t]) / total;
      picture.append(svg("rect", { class: `error-type e-${type}`, x: `${left}%`, width: `${share}%`, height: "100%",
        ...(hasClips && { onclick: () => onType(type) }) }));
      left += share;
    });
    return el("div", {}, el("span", { class: "stacked" }, picture, el("span", { class: "number" }, whole(total))),
      el("div", { class: "in-words" }, lines.join(", ")));
  }

  function legend() {
    const repeated = Object.values(SAME_LOOK);
    return allTypes.filter((type) => !repeated.includes(type)).map((type) => swatch(`error-type e-${type}`,
      [type, SAME_LOOK[type]].filter(Boolean).map(errorTypeName).join(", ")));
  }

  function saveBars() {
    const rows = [...bars.tBodies[0].rows];
    const stacks = [...bars.querySelectorAll(".stack")];
    const totals = [...bars.querySelectorAll(".number")].map((element) => element.textContent);
    const parts = [[200, 4, "references"], [480, 4, "detections"]];
    rows.forEach((line, r) => {
      const y = 24 + 20 * r;
      parts.push([8, y, clipped(line.cells[0].textContent, 28)]);
      [200, 480].forEach((x, side) => parts.push([x, y, stacks[2 * r + side], 220, 16],
        [x + 226, y, totals[2 * r + side]]));
    });
    const [entries, height] = keyParts(key, 34 + 20 * rows.length, 4);
    saveCollage("errors", [...parts, ...entries], 760, height);
  }

  function drawGains() {
    const k = state.selectedClass;
    const tally = k === null ? state.totalTally() : state.tally(k);
    const [references, detections] = eventCounts(k);
    const rows = Object.entries(causes).map(([cause, [referenceType, detectionType]]) => {
      const missed = referenceType ? references[referenceTypes.indexOf(referenceType)] : 0;
      const wrong = detectionType ? detections[detectionTypes.indexOf(detectionType)] : 0;
      const fixedTally = new Tally(tally.tp + missed, tally.fp - wrong, tally.references, tally.hours);
      return { cause, missed, wrong, fixedTally, referenceType, detectionType };
    }).sort((a, b) => b.fixedTally.f1 - a.fixedTally.f1);
    gains.replaceChildren(
      el("thead", {}, el("tr", {}, ...["if fixed", "missed", "false", "F1", "gain", "error rate"].map((text) =>
        el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows.map(({ cause, missed, wrong, fixedTally, referenceType, detectionType }) => el("tr", { "data-cause": cause },
        el("th", { scope: "row" }, lister(errorTypeName(cause), k, errorPair(referenceType, detectionType))), el("td", {}, missed ? `−${whole(missed)}` : ""),
        el("td", {}, wrong ? `−${whole(wrong)}` : ""), el("td", {}, fixed(fixedTally.f1)),
        el("td", {}, signed(fixedTally.f1 - tally.f1)), el("td", {}, fixed(fixedTally.errorRate))))),
      el("caption", {}, k === null ? "all classes together" : nameOf(model.labels[k])));
  }

  state.listen(draw);
  draw();
});
