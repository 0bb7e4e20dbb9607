// How soon references get an alarm, and in which hours of long recordings false alarms come.

import { Chart } from "../chart.js";
import { el, whenChanged } from "../dom.js";
import { fixed, short } from "../format.js";
import { registerPanel } from "../panel.js";
import { linear, roundRange } from "../scales.js";

registerPanel("alarms", ({ section, data, model, state }) => {
  const charts = [];
  if (data.has_latencies) charts.push(latencyChart(data, model, state));
  if (data.hours.length) charts.push(hourChart(data, model, state));
  section.append(
    el("p", { class: "about" }, "By ", el("code", {}, data.criterion), ", at the operating points of each system, or else at " +
      "the threshold with the best F1 of each class. Sliders do not change these pictures."),
    el("div", { class: "figures" }, ...charts.map((chart) => chart.figure)));
  const drawAll = () => charts.forEach((chart) => chart.draw());
  state.listen(whenChanged(() => `${state.selectedClass}`, drawAll, () => {}));
  window.addEventListener("resize", drawAll);
  drawAll();
});

// The curves of all classes together, thick, and of each class; of several systems, those of the selected class or of all.
function curvesOf({ model, state, overall, ofClass, describe, end }) {
  const several = model.systems.length > 1;
  const { selectedClass } = state;
  return model.systems.flatMap((system, s) => {
    const name = (label) => (several ? `${system}: ${label}` : label);
    const curves = [];
    const add = (vertices, label, style, options) => vertices && curves.push({ name: name(label), style: several ? s : style,
      ...vertices, step: true, end, describe: (i) => describe(vertices, i), ...options });
    if (model.labels.length > 1 && !(several && selectedClass !== null))
      add(overall(s), "all classes", null, { strong: true, faint: selectedClass !== null,
        select: () => state.set({ selectedClass: null }) });
    model.labels.forEach((label, k) => {
      const selected = selectedClass === k;
      if (several && !selected && model.labels.length > 1) return;
      add(ofClass(s, k), label, k, { strong: selected, selected, faint: selectedClass !== null && !selected,
        select: () => state.toggleClass(k) });
    });
    return curves;
  });
}

function latencyChart({ systems }, model, state) {
  const vertices = (curve) => curve && { x: curve.seconds, y: curve.shares };
  const all = systems.flatMap(({ overall, classes }) => [overall, ...classes]).filter(Boolean);
  const last = Math.max(1, ...all.map(({ seconds }) => seconds.at(-1)));
  const first = Math.min(0, ...all.map(({ seconds }) => seconds[0]));
  return new Chart({
    title: "References with an alarm", file: "latency",
    x: { label: "seconds since the onset", scale: (range) => linear(roundRange([first, last]), range) },
    y: { label: "share of references", scale: (range) => linear([0, 1], range) },
    curves: () => curvesOf({ model, state, end: last, overall: (s) => vertices(systems[s].overall),
      ofClass: (s, k) => vertices(systems[s].classes[k]),
      describe: ({ x, y }, i) => [`${fixed(y[i])} of the references`, `within ${short(x[i])} s`] }),
    marks: () => [],
  });
}

function hourChart({ systems, hours }, model, state) {
  const sums = systems.map(({ false_alarms: rates }) => hours.slice(1).map((_, h) => rates.reduce((sum, ofClass) => sum + ofClass[h], 0)));
  const most = Math.max(...sums.flat(), 1e-9);
  const vertices = (rates) => ({ x: hours, y: [...rates, rates.at(-1)] });
  return new Chart({
    title: "False alarms over time", file: "false_alarms_over_time",
    x: { label: "hours since the beginning of the recording", scale: (range) => linear([0, hours.at(-1)], range) },
    y: { label: "false alarms per hour", scale: (range) => linear(roundRange([0, most]), range) },
    curves: () => curvesOf({ model, state, end: hours.at(-1), overall: (s) => vertices(sums[s]),
      ofClass: (s, k) => vertices(systems[s].false_alarms[k]),
      describe: ({ x, y }, i) => [`${short(y[i])} false alarms per hour`, `from hour ${x[i]} on`] }),
    marks: () => [],
  });
}
