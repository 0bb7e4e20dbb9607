// The bar at the top: criterion, class and threshold.

import { button, byId, el, select } from "./dom.js";
import { operatingPointsText, save } from "./exports.js";
import { amount, clipped, counted, falseAlarmRate, fixed, short, whole } from "./format.js";
import { positionOf, unpackNumber } from "./model.js";

export function addControls(model, state) {
  const several = model.systems.length > 1;
  const classes = select("Class", [["", "all classes"], ...model.labels.map((label, k) => [k, clipped(label)])],
    (value) => state.set({ selectedClass: value === "" ? null : Number(value) }), { id: "class" });
  const slider = el("input", { type: "range", id: "slider", min: 0, step: 1, "aria-label": "threshold",
    oninput: () => moveTo(sliderThresholds().length - 1 - Number(slider.value)) });
  const input = el("input", { type: "number", id: "threshold", step: "any", "aria-label": "threshold",
    onchange: () => (input.value === "" ? refresh() : enter(Number(input.value))) });
  const summary = el("output", { id: "summary", for: "slider threshold" });
  const positions = el("span", { class: "small screen", id: "positions" });

  // The class that the slider moves: the selected one, or the only one. null: all classes.
  function movedClass() {
    return state.selectedClass ?? (model.labels.length === 1 ? 0 : null);
  }

  function sliderThresholds() {
    return movedClass() === null ? model.sharedThresholds : model.thresholds[movedClass()];
  }

  function moveTo(position) {
    if (movedClass() === null) state.setSharedThreshold(model.sharedThresholds[position]);
    else state.setPosition(movedClass(), position);
  }

  function enter(threshold) {
    if (Number.isFinite(threshold)) moveTo(positionOf(threshold, sliderThresholds()));
  }

  const allowed = new Map(model.page.false_alarm_rates);
  const rates = select("False alarms per hour", [["", "at most…"], ...[...allowed.keys()].map((rate) => [rate, short(rate)])],
    (value) => value !== "" && state.setFalseAlarms(allowed.get(Number(value))), { id: "rate" });
  const criteria = select("Criterion", model.criteria.map(({ definition }, q) => [q, definition]),
    (value) => state.set({ criterion: Number(value) }), { id: "criterion" });
  const systems = select("System", model.systems.map((name, s) => [s, clipped(name)]),
    (value) => state.set({ system: Number(value) }), { id: "system" });
  const linked = el("input", { type: "checkbox", id: "linked", checked: true,
    onchange: () => state.set({ linked: linked.checked }) });
  const download = button("Save thresholds", () => saveThresholds(model, state),
    { id: "save", title: "Save a file for sedscope detect --points" });

  byId("controls").append(
    el("div", { class: "row steering" }, criteria, classes, several ? systems : null,
      several ? el("label", { class: "field screen" }, el("span", {}, "Sliders move"),
        el("span", {}, linked, " all systems")) : null,
      el("div", { class: "row steering grow screen" },
        el("label", { class: "field grow" }, el("span", {}, "Threshold"), slider), input,
        button("Best F1", () => state.setBestF1(), { id: "best" }),
        model.page.points.some((points) => points?.positions.length) ? button("Operating points", () => state.setPoints(),
          { id: "points", title: "Set the thresholds that the system was evaluated at" }) : null,
        rates, download)),
    el("div", { class: "row" }, summary, positions),
  );

  const refresh = () => {
    const thresholds = sliderThresholds();
    const threshold = movedClass() === null ? state.sharedThreshold() : state.threshold(movedClass());
    const position = thresholds.indexOf(threshold);
    slider.max = thresholds.length - 1;
    slider.disabled = thresholds.length === 0;
    slider.value = thresholds.length - 1 - (position >= 0 ? position : medianPosition(model, state, thresholds));
    slider.classList.toggle("varies", position < 0);
    slider.setAttribute("aria-valuetext", position >= 0 ? short(threshold) : "each class has its own threshold");
    input.value = position >= 0 ? threshold : "";
    input.placeholder = position >= 0 ? "" : "varies";
    classes.querySelector("select").value = state.selectedClass ?? "";
    criteria.querySelector("select").value = state.criterion;
    systems.querySelector("select").value = state.system;
    rates.querySelector("select").value = "";
    summary.replaceChildren(summaryText(state, model.criteria[state.criterion]));
    positions.title = positionsText(model, state, movedClass(), thresholds);
    positions.replaceChildren(positions.title);
    rates.querySelector("select").disabled = model.criteria[state.criterion].measures_time;
    download.disabled = !model.criteria[state.criterion].thresholds_frames;
  };
  state.listen(refresh);
  refresh();
}

// While classes have thresholds of their own, the slider for all classes is at their median.
function medianPosition(model, state, thresholds) {
  const chosen = model.labels.map((_, k) => state.threshold(k)).sort((a, b) => a - b);
  const median = chosen[Math.floor(chosen.length / 2)];
  const position = thresholds.findIndex((threshold) => threshold <= median);
  return position < 0 ? thresholds.length - 1 : position;
}

function summaryText(state, criterion) {
  const tally = state.selectedClass === null ? state.totalTally() : state.tally(state.selectedClass);
  const crossTriggers = tally.crossTriggers === null ? "" : `, CT ${whole(tally.crossTriggers)}`;
  const [tp, fp, fn] = [tally.tp, tally.fp, tally.fn].map((value) => amount(value, criterion));
  return `TP ${tp}, FP ${fp}, FN ${fn}${crossTriggers} · precision ` +
    `${fixed(tally.precision)}, recall ${fixed(tally.recall)}, F1 ${fixed(tally.f1)}, error rate ` +
    `${fixed(tally.errorRate)} · ${falseAlarmRate(tally.falseAlarms, tally.hours, criterion)} false alarms per hour`;
}

// `k`: the class that the slider moves, or null for all classes.
function positionsText(model, state, k, thresholds) {
  const positions = counted(thresholds.length, "slider position");
  if (k === null) {
    const others = model.thresholds.every(({ length }) => length > thresholds.length) ? "; each class has more" : "";
    return `${positions} shared by all classes${others}`;
  }
  const scores = model.criteria[state.criterion].distinct_scores[state.system][k];
  return `${positions}; counts change at ${counted(scores, "score")}`;
}

// Saves the chosen thresholds. Operating points that were not moved are saved as they came.
function saveThresholds(model, state) {
  const { header } = model.page;
  const points = model.page.points[state.system];
  const moved = model.labels.map((_, k) => state.positions[state.system][k] !== model.startOf(state.system, k));
  const chosen = new Map(Object.entries(points?.thresholds ?? {}).map(([label, value]) => [label, unpackNumber(value)]));
  model.labels.forEach((label, k) => moved[k] && chosen.set(label, state.threshold(k)));
  const provenance = [
    ["sedscope", header.versions[0][1]],
    ["criterion", model.criteria[state.criterion].definition],
    ["objective", "chosen in a report"],
    ["system", model.systems[state.system]],
    ["clips", String(header.clips)],
    ["hours", fixed(model.hours)],
  ];
  const text = points && !moved.includes(true) ? points.text
    : operatingPointsText([...chosen], provenance, Object.entries(points?.postprocessing ?? {}));
  save("points.toml", "application/toml", text);
}
