// PSD-ROC curves: one picture for each metric that reads one.

import { Chart } from "../chart.js";
import { el, whenChanged } from "../dom.js";
import { fixed, short } from "../format.js";
import { unpackFractions, unpackSteps } from "../packing.js";
import { registerPanel } from "../panel.js";
import { linear } from "../scales.js";

registerPanel("psd_roc", ({ section, data, model, state }) => {
  const charts = data.pictures.map((picture) => new PsdRocChart(model, state, picture).chart);
  const ranges = new Set(data.pictures.flatMap(({ systems }) => systems.map(({ even_thresholds: ends }) => ends))
    .filter((ends) => ends !== null).map(([low, high]) => `from ${short(low)} to ${short(high)}`));
  const checkbox = el("input", { type: "checkbox", id: "approximation",
    onchange: () => state.set({ showApproximation: checkbox.checked }) });
  section.append(
    el("p", { class: "about" }, "True positive ratio over effective false positive rate, as steps. The metric counts " +
      "up to the dashed line. Hollow shapes mark the chosen thresholds. ",
    el("span", { class: "screen" }, "Point at a curve to read it. Click it to select its class.")),
    ranges.size ? el("p", { class: "screen" }, el("label", {}, checkbox,
      ` also show the curves of 50 evenly spaced thresholds, ${[...ranges].join(" or ")}`)) : "",
    el("div", { class: "figures" }, ...charts.map((chart) => chart.figure)),
  );
  const drawAll = () => charts.forEach((chart) => chart.draw());
  state.listen(whenChanged(() => `${state.selectedClass},${state.showApproximation}`, drawAll,
    () => charts.forEach((chart) => chart.drawMarks())));
  window.addEventListener("resize", drawAll);
  drawAll();
});

class PsdRocChart {
  constructor(model, state, { metric, max_efpr: maxEfpr, unit, systems }) {
    Object.assign(this, { model, state, maxEfpr, unit, criterion: model.metrics[metric].criterion });
    this.several = model.systems.length > 1;
    // Rates come in steps of maxEfpr / resolution, so their difference has one digit less.
    this.digits = Math.max(0, Math.floor(-Math.log10(maxEfpr / model.page.resolution) + 1e-9) - 1);
    this.systems = systems.map((curves) => ({
      exact: this.unpackCurves(curves.exact),
      approximation: curves.approximation && this.unpackCurves(curves.approximation),
      efpr: curves.efpr_at_positions.map((packed) => this.unpackRates(packed)),
    }));
    this.chart = new Chart({
      title: `${model.metrics[metric].name}: PSD-ROC`,
      file: `psd_roc_${metric + 1}`,
      x: { label: `effective false positives per ${unit}`,
        scale: (range) => linear([0, maxEfpr * 1.02], range, [0, maxEfpr]) },
      y: { label: "true positive ratio", scale: (range) => linear([0, 1], range) },
      limit: { x: maxEfpr, text: `max eFPR ${short(maxEfpr)}` },
      curves: () => this.curves(),
      marks: () => this.marks(),
    });
  }

  unpackRates(packed) {
    return unpackFractions(packed, this.model.page.resolution).map((fraction) => fraction * this.maxEfpr);
  }

  unpackCurves({ overall, classes }) {
    const { resolution } = this.model.page;
    return {
      overall: { x: this.unpackRates(overall.efpr), y: unpackFractions(overall.etpr, resolution) },
      classes: classes.map((curve, k) => curve && {
        x: this.unpackRates(curve.efpr),
        y: unpackSteps(curve.tp).map((tp) => tp / this.model.references(this.criterion, k)),
        fpr: curve.fpr && this.unpackRates(curve.fpr),
        scores: curve.scores.map((score) => (score === null ? Infinity : score)),
      }),
    };
  }

  curves() {
    const { model, state, several } = this;
    const { selectedClass } = state;
    const isOnlyOne = !several && model.labels.length === 1; // its curve is the one over all classes, too
    const curves = [];
    model.systems.forEach((system, s) => {
      const { exact, approximation } = this.systems[s];
      const versions = state.showApproximation && approximation ? [exact, approximation] : [exact];
      versions.forEach(({ overall, classes }, dashed) => {
        const suffix = dashed ? ", 50 thresholds" : "";
        const isPoint = (k) => model.isOnePoint(s, this.criterion, k);
        const onlyPoints = classes.every((curve, k) => !curve || isPoint(k));
        const name = (label) => (several ? `${system}: ${label}${suffix}` : `${label}${suffix}`);
        if (classes.some(Boolean) && !isOnlyOne) curves.push(this.curve(overall, name("all classes"), several ? s : null, {
          dashed, strong: true, faint: selectedClass !== null, point: onlyPoints,
          select: () => state.set({ selectedClass: null }),
        }));
        classes.forEach((curve, k) => {
          const selected = selectedClass === k;
          if (!curve || ((several || dashed) && !selected && !isOnlyOne)) return;
          curves.push(this.curve(curve, name(model.labels[k]), several ? s : k, {
            dashed, strong: selected, faint: selectedClass !== null && !selected, selected, point: isPoint(k),
            select: () => state.toggleClass(k),
          }));
        });
      });
    });
    return curves;
  }

  curve(curve, name, style, options) {
    // of a point, only the last vertex; there is none if it lies beyond the largest rate
    const first = !options.point ? 0 : curve.scores?.at(-1) === Infinity ? curve.x.length : curve.x.length - 1;
    const [x, y] = [curve.x.slice(first), curve.y.slice(first)];
    const [scores, fpr] = [curve.scores, curve.fpr].map((values) => values && values.slice(first));
    return { name, style, x, y, scores, step: true, end: options.point ? undefined : this.maxEfpr, ...options,
      describe: (i) => [
        scores ? `active where score ${options.dashed ? ">" : "≥"} ${short(scores[i])}` : "one threshold for each class",
        `TPR ${fixed(y[i])}`, `eFPR ${short(x[i])} per ${this.unit}`, ...(fpr ? this.shares(x[i], fpr[i]) : [])] };
  }

  // What false positives and cross-triggers contribute to an effective false positive rate.
  shares(efpr, fpr) {
    const [ofFalse, ofCross] = [fpr, Math.max(0, efpr - fpr)].map((rate) => fixed(rate, this.digits));
    return [`= ${ofFalse} from false positives`, `+ ${ofCross} from cross-triggers`];
  }

  marks() {
    const { model, state, several, criterion } = this;
    const marks = [];
    model.systems.forEach((_, s) => model.labels.forEach((_label, k) => {
      const shown = state.selectedClass === null ? !several : state.selectedClass === k;
      if (!shown || !model.references(criterion, k)) return;
      const position = state.positions[s][k];
      const x = this.systems[s].efpr[k][position];
      if (x > this.maxEfpr * 1.02) return;
      marks.push({ x, y: model.tally(s, criterion, k, position).recall, style: several ? s : k,
        strong: state.selectedClass === k });
    }));
    return marks;
  }
}
