// How far scores are from the probability to be right: one reliability diagram for each criterion.

import { Chart } from "../chart.js";
import { el, whenChanged } from "../dom.js";
import { fixed, short } from "../format.js";
import { registerPanel } from "../panel.js";
import { linear } from "../scales.js";

registerPanel("calibration", ({ section, data, model, state }) => {
  const charts = data.pictures.map((picture, i) => reliabilityDiagram(picture, i, model, state));
  section.append(
    el("p", { class: "about" }, "The share of segments, clips or events that are right, over their mean score, bin by bin. " +
      "Scores that are probabilities lie on the dotted diagonal. Below it, the system is too sure."),
    el("div", { class: "figures" }, ...charts.map((chart) => chart.figure)));
  const drawAll = () => charts.forEach((chart) => chart.draw());
  state.listen(whenChanged(() => `${state.selectedClass}`, drawAll, () => {}));
  window.addEventListener("resize", drawAll);
  drawAll();
});

function reliabilityDiagram({ metrics, systems }, number, model, state) {
  const unit = (range) => linear([0, 1], range);
  return new Chart({
    title: metrics.map((m) => model.metrics[m].name).join(", "),
    file: `calibration_${number + 1}`,
    x: { label: "score", scale: unit },
    y: { label: "share that is right", scale: unit },
    curves: () => reliabilityCurves(systems, model, state),
    marks: () => [],
  });
}

// The curves of all classes together, thick, and of each class; of several systems, those of the selected class or of all.
function reliabilityCurves(systems, model, state) {
  const several = model.systems.length > 1;
  const { selectedClass } = state;
  const diagonal = { name: "probabilities", style: null, x: [0, 1], y: [0, 1], dashed: true, faint: true,
    describe: () => ["scores that are probabilities"] };
  return [diagonal, ...model.systems.flatMap((system, s) => {
    const curves = [];
    const add = (curve, label, style, options) => curve && curves.push({ name: several ? `${system}: ${label}` : label,
      style: several ? s : style, x: curve.scores, y: curve.shares, ...options,
      describe: (i) => [`${fixed(curve.shares[i])} of ${short(curve.items[i])} are right`, `mean score ${fixed(curve.scores[i])}`] });
    if (model.labels.length > 1 && !(several && selectedClass !== null))
      add(systems[s].overall, "all classes", null, { strong: true, faint: selectedClass !== null,
        select: () => state.set({ selectedClass: null }) });
    model.labels.forEach((label, k) => {
      const selected = selectedClass === k;
      if (several && !selected && model.labels.length > 1) return;
      add(systems[s].classes[k], label, k, { strong: selected, selected, faint: selectedClass !== null && !selected,
        select: () => state.toggleClass(k) });
    });
    return curves;
  })];
}
