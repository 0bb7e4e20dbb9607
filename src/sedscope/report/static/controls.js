// The bar that stays on top: criterion, class, threshold.

import { button, byId, el, select } from "./dom.js";
import { pointsText, save } from "./exports.js";
import { clipped, fixed, short, whole } from "./format.js";

const RATES = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export function addControls(model, state) {
  const bar = byId("controls");
  const several = model.systems.length > 1;
  const classes = select("Class", [["", "all classes"], ...model.labels.map((label, k) => [k, clipped(label)])],
    (value) => state.set({ single: value === "" ? null : Number(value) }), { id: "class" });
  const slider = el("input", { type: "range", id: "slider", min: 0, step: 1, "aria-label": "threshold",
    oninput: () => moveTo(stopsNow().length - 1 - Number(slider.value)) });
  const typed = el("input", { type: "number", id: "threshold", step: "any", "aria-label": "threshold",
    onchange: () => typed.value !== "" && typeIn(Number(typed.value)) });
  const told = el("output", { id: "told", for: "slider threshold" });
  const about = el("span", { class: "small screen", id: "stops" });

  function stopsNow() {
    return state.single === null ? model.common : model.stops[state.single];
  }

  function moveTo(stop) {
    if (state.single === null) state.setCommon(model.common[stop]);
    else state.setStop(state.single, stop);
  }

  function typeIn(value) {
    if (!Number.isFinite(value)) return;
    const stops = stopsNow();
    let stop = stops.length - 1;
    while (stop > 0 && stops[stop] < value) stop -= 1;
    moveTo(stop);
  }

  const rates = select("False alarms per hour", [["", "at most…"], ...RATES.map((rate) => [rate, short(rate)])],
    (value) => value !== "" && state.setRate(Number(value)), { id: "rate" });
  const criteria = select("Criterion", model.criteria.map((one, q) => [q, one.definition]),
    (value) => state.set({ criterion: Number(value) }), { id: "criterion" });
  const systems = select("System", model.systems.map((name, s) => [s, clipped(name)]),
    (value) => state.set({ system: Number(value) }), { id: "system" });
  const linked = el("input", { type: "checkbox", id: "linked", checked: true,
    onchange: () => state.set({ linked: linked.checked }) });

  const download = button("Save thresholds", () => saveThresholds(model, state),
    { id: "save", title: "The file that sedscope detect --points takes" });
  bar.append(
    el("div", { class: "row" }, criteria, classes, several ? systems : null,
      several ? el("label", { class: "field screen" }, el("span", {}, "Sliders move"),
        el("span", {}, linked, " all systems")) : null),
    el("div", { class: "row screen" },
      el("label", { class: "field grow" }, el("span", {}, "Threshold"), slider), typed,
      button("Best F1", () => state.setBestF1(), { id: "best" }), rates, download),
    el("div", { class: "row" }, told, about),
  );

  const refresh = () => {
    const stops = stopsNow();
    const value = state.single === null ? state.commonThreshold() : state.threshold(state.single);
    const at = stops.indexOf(value);
    slider.max = stops.length - 1;
    slider.disabled = stops.length === 0;
    slider.value = stops.length - 1 - (at >= 0 ? at : middleStop(model, state, stops));
    slider.classList.toggle("own", at < 0);
    slider.setAttribute("aria-valuetext", at >= 0 ? short(value) : "each class has its own");
    typed.value = at >= 0 ? value : "";
    typed.placeholder = at >= 0 ? "" : "own";
    classes.querySelector("select").value = state.single ?? "";
    criteria.querySelector("select").value = state.criterion;
    systems.querySelector("select").value = state.system;
    rates.querySelector("select").value = "";
    told.replaceChildren(summary(model, state));
    about.replaceChildren(stopsText(model, state, stops));
    download.disabled = !model.criteria[state.criterion].frames;
  };
  state.listen(refresh);
  refresh();
}

// What a part says that the chosen criterion has nothing for, and a way to one that has.
export function otherCriterion(model, state, lacks, fits) {
  const other = model.criteria.findIndex(fits);
  return [`${model.criteria[state.criterion].definition} ${lacks}. `,
    button(`Choose ${model.criteria[other].definition}`, () => state.set({ criterion: other }))];
}

// Where a slider for all stands while classes have thresholds of their own: at the middle one.
function middleStop(model, state, stops) {
  const thresholds = model.labels.map((_, k) => state.threshold(k)).sort((a, b) => a - b);
  const middle = thresholds[Math.floor(thresholds.length / 2)];
  const at = stops.findIndex((stop) => stop <= middle);
  return at < 0 ? stops.length - 1 : at;
}

function summary(model, state) {
  const tallies = state.single === null ? model.labels.map((_, k) => state.tally(k)) : [state.tally(state.single)];
  const all = tallies.reduce((sum, one) => sum.plus(one));
  const crossed = all.crossed === null ? "" : `, CT ${whole(all.crossed)}`;
  return `TP ${whole(all.tp)}, FP ${whole(all.fp)}, FN ${whole(all.fn)}${crossed} · precision ` +
    `${fixed(all.precision, 3)}, recall ${fixed(all.recall, 3)}, F1 ${fixed(all.f1, 3)}, error rate ` +
    `${fixed(all.errorRate, 3)} · ${short(all.falseAlarms, 4)} false alarms per hour`;
}

function stopsText(model, state, stops) {
  if (state.single === null) return `${stops.length} stops that all classes have; a class has more of its own`;
  const all = model.criteria[state.criterion].thresholds[state.system][state.single];
  return `${stops.length} stops; counts change at ${whole(all)} scores in this range`;
}

function saveThresholds(model, state) {
  const thresholds = model.labels.map((label, k) => [label, state.threshold(k)]);
  const provenance = [
    ["sedscope", model.data.header.versions[0][1]],
    ["criterion", model.criteria[state.criterion].definition],
    ["objective", "chosen in a report"],
    ["system", model.systems[state.system]],
    ["clips", String(model.data.header.clips)],
    ["hours", model.hours.toFixed(4)],
  ];
  save("points.toml", "application/toml", pointsText(thresholds, provenance));
}
