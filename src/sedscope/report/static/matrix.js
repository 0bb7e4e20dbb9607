// Who is taken for whom at the chosen thresholds, and in which clips.

import { otherCriterion } from "./controls.js";
import { button, byId, el, keepingFocus, nameOf } from "./dom.js";
import { saveCsv, saveLatex } from "./exports.js";
import { clipped, whole } from "./format.js";
import { roving } from "./roving.js";

export function addMatrix(model, state, openClip) {
  if (!model.criteria.some((criterion) => criterion.crosses)) return;
  const section = byId("matrix");
  const table = el("table", { class: "matrix" });
  const listed = el("div", { class: "listed", "aria-live": "polite" });
  const about = el("p", { class: "about" });
  let chosen = null;
  section.hidden = false;
  const tools = el("div", { class: "tools" },
    button("CSV", () => saveCsv("cross_triggers", cells())),
    button("LaTeX", () => saveLatex("cross_triggers", cells())));
  const holder = el("div", { class: "scroll" }, table);
  const settle = roving(table, "button");
  section.append(about, tools, holder, listed);

  const count = (c, m) => {
    const { ct } = model.counts[state.system][state.criterion][c];
    return ct.has(m) ? ct.get(m)[state.stops[state.system][c]] : 0;
  };

  function cells() {
    return [["detected as", ...model.labels], ...model.labels.map((label, c) =>
      [label, ...model.labels.map((_, m) => (c === m ? state.tally(c).tp : count(c, m)))])];
  }

  function draw() {
    const there = model.criteria[state.criterion].crosses;
    about.replaceChildren(...(there
      ? ["In the row of a class, its false detections where another class is to be found; on the diagonal its " +
        "references found. ", el("span", { class: "screen" }, "A cell lists its clips.")]
      : otherCriterion(model, state, "counts no cross-triggers", (criterion) => criterion.crosses)));
    for (const part of [tools, holder, listed]) part.hidden = !there;
    section.classList.toggle("screen", !there);
    if (!there) return;
    let most = 1;
    model.labels.forEach((_, c) => model.labels.forEach((_other, m) => {
      if (c !== m) most = Math.max(most, count(c, m));
    }));
    keepingFocus(table, () => table.replaceChildren(
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "detected as ↓, is →"),
        ...model.labels.map((label) => el("th", { scope: "col", class: "turned" }, nameOf(label))))),
      el("tbody", {}, ...model.labels.map((label, c) => el("tr", {},
        el("th", { scope: "row" }, nameOf(label)),
        ...model.labels.map((_, m) => cell(c, m, most)))))));
    settle();
    list();
  }

  function cell(c, m, most) {
    if (c === m) return el("td", { class: "diagonal" }, whole(state.tally(c).tp));
    const number = count(c, m);
    if (!number) return el("td", { class: "none" }, "·");
    const holder = el("td", {}, button(whole(number), () => {
      chosen = [c, m];
      draw();
    }, { title: `${model.labels[c]} where ${model.labels[m]} is`,
      "aria-pressed": String(String(chosen) === String([c, m])) }));
    holder.style.setProperty("--share", `${Math.round((60 * number) / most)}%`);
    return holder;
  }

  function list() {
    if (chosen === null) return;
    const [c, m] = chosen;
    const spans = model.data.cells[state.system][state.criterion][`${c},${m}`] || [];
    const below = model.stops[c].length - 1 - state.stops[state.system][c];
    const there = spans.filter(([, comes, goes]) => comes > below && goes <= below);
    const clips = [...new Set(there.map(([clip]) => clip))];
    listed.replaceChildren(
      el("p", {}, nameOf(model.labels[c]), " where ", nameOf(model.labels[m]), ` is: ${whole(count(c, m))}. ` +
        (clips.length ? "The clips with the highest scores:" : "")),
      el("ul", {}, ...clips.map((clip) => {
        const name = model.data.clip_names[clip];
        return el("li", {}, openClip.has(clip)
          ? button(clipped(name, 60), () => openClip.open(clip), { title: name }) : nameOf(name));
      })));
  }

  state.listen(draw);
  draw();
}
