// Precision over recall, F-score over threshold, FROC, ROC and DET of the chosen criterion.

import { Chart } from "../chart.js";
import { el, whenChanged } from "../dom.js";
import { amount, fixed, short } from "../format.js";
import { positionOf, Tally } from "../model.js";
import { registerPanel } from "../panel.js";
import { linear, logarithmic, normal, roundRange } from "../scales.js";

registerPanel("curves", ({ section, model, state }) => {
  const definition = el("code");
  const figures = el("div", { class: "figures" });
  section.append(el("p", { class: "about" }, "Counts are by ", definition, ". Hollow shapes mark the chosen thresholds.",
    model.systems.length > 1 ? " The curves are those of the selected class. Of all classes, they are means: at each number of " +
      "false alarms (FROC), or at each threshold that the classes share." : ""), figures);
  let charts = [];
  let criterion = null;
  const drawAll = () => {
    if (criterion !== state.criterion) {
      criterion = state.criterion;
      definition.replaceChildren(model.criteria[criterion].definition);
      charts = chartKinds(model, criterion).map((kind) => new CurveChart(model, state, kind).chart);
      figures.replaceChildren(...charts.map((chart) => chart.figure));
    }
    charts.forEach((chart) => chart.draw());
  };
  state.listen(whenChanged(() => `${state.selectedClass},${state.criterion}`, drawAll,
    () => charts.forEach((chart) => chart.drawMarks())));
  window.addEventListener("resize", drawAll);
  drawAll();
});

// An axis: its label, its value for a tally and a threshold, and its scale.
function axisOf(label, value, scale) {
  return { label, value, scale };
}

// A range of a single score, as of an event list without confidences, gets some room at both sides.
function withWidth([low, high]) {
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

function chartKinds(model, criterion) {
  const ranges = model.curves.map((byCriterion) => byCriterion[criterion].range);
  const scores = withWidth([Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))]);
  const unit = (range) => linear([0, 1], range);
  const kinds = [
    { title: "Precision over recall", file: "precision_recall", step: false,
      x: axisOf("recall", (tally) => tally.recall, unit),
      y: axisOf("precision", (tally) => tally.precision, unit) },
    { title: "F-score over threshold", file: "fscore", step: true,
      x: axisOf("threshold", (_, threshold) => Math.min(scores[1], Math.max(scores[0], threshold)),
        (range) => linear(roundRange(scores), range)),
      y: axisOf("F1", (tally) => tally.f1, unit) },
  ];
  const { trials } = model.criteria[criterion];
  if (trials === null) {
    const mostFalse = Math.max(1, ...model.curves.flatMap((byCriterion) =>
      byCriterion[criterion].classes.map(({ froc }) => froc.fp.at(-1) ?? 0)));
    const rates = [0.5 / model.hours, mostFalse / model.hours];
    kinds.push({ title: "Recall over false alarms (FROC)", file: "froc", step: true, froc: true, last: rates[1],
      x: axisOf("false alarms per hour", (tally) => tally.falseAlarms, (range) => logarithmic(rates, range)),
      y: axisOf("recall", (tally) => tally.recall, unit) });
  } else {
    const falsePositiveRate = (tally, _threshold, k) => tally.fp / (trials[k] - tally.references);
    kinds.push(
      { title: "ROC", file: "roc", step: false,
        x: axisOf("false positive rate", falsePositiveRate, unit),
        y: axisOf("true positive rate", (tally) => tally.recall, unit) },
      { title: "Detection error tradeoff", file: "det", step: false,
        x: axisOf("false positive rate", falsePositiveRate, (range) => normal([0.0005, 0.5], range)),
        y: axisOf("miss rate", (tally) => 1 - tally.recall, (range) => normal([0.005, 0.95], range)) });
  }
  return kinds;
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

class CurveChart {
  constructor(model, state, kind) {
    Object.assign(this, { model, state, kind, criterion: state.criterion });
    this.several = model.systems.length > 1;
    this.vertices = new Map();
    this.chart = new Chart({
      title: kind.title,
      file: kind.file,
      x: kind.x,
      y: kind.y,
      curves: () => this.curves(),
      marks: () => this.marks(),
    });
  }

  // The vertices of a curve, computed once.
  verticesOf(s, k) {
    const key = `${s},${k}`;
    if (!this.vertices.has(key)) {
      const curve = this.model.curves[s][this.criterion].classes[k];
      const point = this.model.isOnePoint(s, this.criterion, k);
      const { scores, tp, fp, allUpTo, band, alwaysOn } = this.kind.froc ? curve.froc : curve;
      const references = this.model.references(this.criterion, k);
      const tallies = tp.map((_, i) => new Tally(tp[i], fp[i], references, this.model.hours));
      const vertices = {
        x: tallies.map((tally, i) => this.kind.x.value(tally, scores[i], k)),
        y: tallies.map((tally, i) => this.kind.y.value(tally, scores[i], k)),
        scores, tallies };
      if (point) for (const name of Object.keys(vertices)) vertices[name] = vertices[name].slice(-1);
      // the best recall holds up to the edge, as far as it is known
      const end = this.kind.froc && !point ? Math.min(allUpTo / this.model.hours, this.kind.last) : undefined;
      this.vertices.set(key, { ...vertices, point, end, band, ring: alwaysOn ?? undefined });
    }
    return this.vertices.get(key);
  }

  // The mean over the classes that have references, computed once for each system.
  meanOf(s) {
    const key = `${s},mean`;
    if (!this.vertices.has(key)) {
      const { model, criterion } = this;
      const classes = this.classes();
      const point = classes.every((k) => model.isOnePoint(s, criterion, k));
      const mean = this.kind.froc && !point ? this.meanOfSteps(s, classes) : this.meanAtShared(s, classes);
      if (point) for (const name of Object.keys(mean)) mean[name] = mean[name].slice(-1);
      this.vertices.set(key, { ...mean, point });
    }
    return this.vertices.get(key);
  }

  classes() {
    return this.model.labels.map((_, k) => k).filter((k) => this.model.references(this.criterion, k));
  }

  // The mean of the best recall of each class with at most that many false alarms.
  meanOfSteps(s, classes) {
    const steps = classes.map((k) => this.verticesOf(s, k));
    const end = Math.min(...steps.map((step) => step.end ?? Infinity)); // beyond, the recall of some class is not known
    const x = [...new Set(steps.flatMap((step) => step.x))].filter((rate) => rate <= end).sort((a, b) => a - b);
    const y = x.map((rate) => average(steps.map((step) => step.y[step.x.findLastIndex((value) => value <= rate)] ?? 0)));
    return { x, y, end };
  }

  meanAtShared(s, classes) {
    const { model, kind } = this;
    const scores = model.sharedThresholds;
    const at = (axis, threshold) => average(classes.map((k) =>
      axis.value(model.tally(s, this.criterion, k, positionOf(threshold, model.thresholds[k])), threshold, k)));
    return { x: scores.map((threshold) => at(kind.x, threshold)), y: scores.map((threshold) => at(kind.y, threshold)), scores };
  }

  // Of several systems, without a selected class.
  meanCurves() {
    const { model, kind } = this;
    return this.classes().length ? model.systems.map((system, s) => {
      const mean = this.meanOf(s);
      return { name: `${system}: all classes`, style: s, ...mean, step: kind.step, strong: true,
        describe: (i) => [...(mean.scores ? [`active where score > ${short(mean.scores[i])}`] : []),
          `mean ${kind.x.label} ${fixed(mean.x[i])}`, `mean ${kind.y.label} ${fixed(mean.y[i])}`] };
    }) : [];
  }

  meanMarks() {
    const { model, state, kind } = this;
    return this.classes().length ? model.systems.flatMap((_, s) => {
      const at = (axis) => this.classes().map((k) =>
        axis.value(model.tally(s, this.criterion, k, state.positions[s][k]), state.threshold(k, s), k));
      const x = at(kind.x);
      if (kind.x.label === "threshold" && new Set(x).size > 1) return []; // they have no place on this axis
      return [{ x: average(x), y: average(at(kind.y)), style: s, strong: true }];
    }) : [];
  }

  curves() {
    const { model, state, several } = this;
    if (several && state.selectedClass === null) return this.meanCurves();
    const criterion = model.criteria[this.criterion];
    const text = (value) => amount(value, criterion);
    const rate = criterion.measures_time ? text : short;
    const curves = [];
    model.systems.forEach((system, s) => model.labels.forEach((label, k) => {
      if (!model.references(this.criterion, k) || (several && k !== state.selectedClass)) return;
      const { x, y, scores, tallies, point, end, band, ring } = this.verticesOf(s, k);
      const selected = state.selectedClass === k;
      curves.push({ name: several ? `${system}: ${label}` : label, style: several ? s : k, x, y, scores, point, end, band, ring,
        step: this.kind.step, strong: selected, faint: state.selectedClass !== null && !selected, selected,
        select: () => state.toggleClass(k),
        describe: (i) => [
          tallies[i].tp + tallies[i].fp ? `active where score ≥ ${short(scores[i])}` : "nothing detected",
          `TP ${text(tallies[i].tp)}, FP ${text(tallies[i].fp)}, FN ${text(tallies[i].fn)}`,
          `precision ${fixed(tallies[i].precision)}, recall ${fixed(tallies[i].recall)}`,
          `F1 ${fixed(tallies[i].f1)}`,
          `${rate(tallies[i].falseAlarms)} false alarms per hour`,
          ...(i === ring ? ["detections have merged: it is nearly always on"] : [])] });
    }));
    return curves;
  }

  marks() {
    const { model, state, several } = this;
    if (several && state.selectedClass === null) return this.meanMarks();
    const marks = [];
    model.systems.forEach((_, s) => model.labels.forEach((_label, k) => {
      const { selectedClass } = state;
      const shown = several ? k === selectedClass : selectedClass === null || selectedClass === k;
      if (!shown || !model.references(this.criterion, k)) return;
      const tally = model.tally(s, this.criterion, k, state.positions[s][k]);
      const threshold = state.threshold(k, s);
      marks.push({ x: this.kind.x.value(tally, threshold, k), y: this.kind.y.value(tally, threshold, k),
        style: several ? s : k, strong: selectedClass === k });
    }));
    return marks;
  }
}
