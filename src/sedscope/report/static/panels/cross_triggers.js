// The cross-trigger matrix at the chosen thresholds, and the clips of its cells.

import { addArrowKeys } from "../arrow_keys.js";
import { button, el, keepingFocus, nameOf } from "../dom.js";
import { saveCsv, saveLatex } from "../exports.js";
import { clipped, whole } from "../format.js";
import { unpackSteps } from "../packing.js";
import { goToPanel, registerPanel, suggestCriterion } from "../panel.js";

registerPanel("cross_triggers", ({ section, data, model, state }) => {
  const counts = data.counts.map((byCriterion) => byCriterion.map((classes) => classes.map((byClass) =>
    new Map(Object.entries(byClass).map(([m, packed]) => [Number(m), unpackSteps(packed)])))));
  const about = el("p", { class: "about" });
  const table = el("table", { class: "matrix" });
  const cellClips = el("div", { class: "cell-clips", "aria-live": "polite" });
  const tools = el("div", { class: "tools" },
    button("CSV", () => saveCsv("cross_triggers", cells())),
    button("LaTeX", () => saveLatex("cross_triggers", cells())));
  const holder = el("div", { class: "scroll" }, table);
  const updateKeys = addArrowKeys(table, "button");
  section.append(about, tools, holder, cellClips);
  let chosen = null; // the cell whose clips are listed

  // How many false detections of class c are cross-triggers on class m.
  function count(c, m) {
    const byPosition = counts[state.system][state.criterion][c].get(m);
    return byPosition ? byPosition[state.positions[state.system][c]] : 0;
  }

  function cells() {
    return [["detected as", ...model.labels], ...model.labels.map((label, c) =>
      [label, ...model.labels.map((_, m) => (c === m ? state.tally(c).tp : count(c, m)))])];
  }

  function draw() {
    const shown = model.criteria[state.criterion].has_cross_triggers;
    about.replaceChildren(...(shown
      ? ["A row holds the false detections of a class where another class is active. The diagonal holds the references " +
        "that were found. ", el("span", { class: "screen" }, "Click a cell to list its clips.")]
      : suggestCriterion(model, state, "counts no cross-triggers", (criterion) => criterion.has_cross_triggers)));
    for (const part of [tools, holder, cellClips]) part.hidden = !shown;
    section.classList.toggle("screen", !shown);
    if (!shown) return;
    let largest = 1;
    model.labels.forEach((_, c) => model.labels.forEach((_other, m) => {
      if (c !== m) largest = Math.max(largest, count(c, m));
    }));
    keepingFocus(table, () => table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "detected ↓, actual →"),
        ...model.labels.map((label) => el("th", { scope: "col", class: "turned" }, nameOf(label))))),
      el("tbody", {}, ...model.labels.map((label, c) => el("tr", {},
        el("th", { scope: "row" }, nameOf(label)),
        ...model.labels.map((_, m) => cell(c, m, largest)))))));
    updateKeys();
    listClips();
  }

  function cell(c, m, largest) {
    if (c === m) return el("td", { class: "diagonal" }, whole(state.tally(c).tp));
    const number = count(c, m);
    if (!number) return el("td", { class: "none" }, "·");
    const content = el("td", {}, button(whole(number), () => {
      chosen = [c, m];
      draw();
    }, { title: `${model.labels[c]} detected in ${model.labels[m]}`,
      "aria-pressed": String(String(chosen) === String([c, m])) }));
    content.style.setProperty("--share", `${Math.round((50 * number) / largest)}%`);
    return content;
  }

  function listClips() {
    if (chosen === null) return;
    const [c, m] = chosen;
    const ranges = data.cells[state.system][state.criterion][`${c},${m}`] || [];
    const rank = state.rank(c);
    const present = ranges.filter(([, above, below]) => above > rank && below <= rank);
    const clips = [...new Set(present.map(([clip]) => clip))];
    cellClips.replaceChildren(
      el("p", {}, nameOf(model.labels[c]), " detected in ", nameOf(model.labels[m]), `: ${whole(count(c, m))}. ` +
        (clips.length ? "Clips with the highest scores:" : "") +
        (clips.some((clip) => !isBrowsable(clip)) ? ` To open the others, use --clips-shown ${model.page.header.clips}.` : "")),
      el("ul", {}, ...clips.map((clip) => el("li", {}, clipLink(clip)))));
  }

  function isBrowsable(clip) {
    return clip < model.page.header.browsable_clips;
  }

  // A button if the clip can be browsed, or else its name.
  function clipLink(clip) {
    const name = data.clip_names[clip];
    if (!isBrowsable(clip)) return nameOf(name);
    return button(clipped(name, 60), () => {
      state.set({ clip });
      goToPanel("clips");
    }, { title: name });
  }

  state.listen(draw);
  draw();
});
