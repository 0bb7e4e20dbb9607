// Precision over recall, F-score over threshold, ROC and DET of the chosen criterion.

import { Chart } from "./chart.js";
import { byId, el, whenChanged } from "./dom.js";
import { fixed, short } from "./format.js";
import { Tally } from "./model.js";
import { linear, normal } from "./scales.js";

export function addCurves(model, state) {
  const section = byId("curves");
  const name = el("code");
  const holder = el("div", { class: "figures" });
  section.append(el("p", { class: "about" }, "Counted by ", name, ". Hollow shapes are the chosen thresholds.",
    model.systems.length > 1 ? " Curves are of the class chosen above, or else of the first." : ""), holder);
  let charts = [];
  let shown = null;
  const drawAll = () => {
    if (shown !== state.criterion) {
      shown = state.criterion;
      name.replaceChildren(model.criteria[shown].definition);
      charts = kindsOf(model, shown).map((kind) => new CurveChart(model, state, kind).chart);
      holder.replaceChildren(...charts.map((chart) => chart.figure));
    }
    charts.forEach((chart) => chart.draw());
  };
  state.listen(whenChanged(() => `${state.single},${state.criterion}`, drawAll,
    () => charts.forEach((chart) => chart.mark())));
  window.addEventListener("resize", drawAll);
  drawAll();
}

function kindsOf(model, criterion) {
  const spans = model.data.curves.map((of) => of[criterion].span);
  const span = [Math.min(...spans.map((one) => one[0])), Math.max(...spans.map((one) => one[1]))];
  const negatives = (tally) => model.criteria[criterion].trials - tally.references;
  const kinds = [
    { title: "Precision over recall", file: "precision_recall", step: false,
      x: ["recall", (tally) => tally.recall, (range) => linear([0, 1], range)],
      y: ["precision", (tally) => tally.precision, (range) => linear([0, 1], range)] },
    { title: "F-score over threshold", file: "fscore", step: true,
      x: ["threshold", (_, score) => score, (range) => linear(span, range)],
      y: ["F1", (tally) => tally.f1, (range) => linear([0, 1], range)] },
  ];
  if (model.criteria[criterion].trials !== null) {
    const rate = (tally) => tally.fp / negatives(tally);
    kinds.push(
      { title: "ROC", file: "roc", step: false,
        x: ["false positive rate", rate, (range) => linear([0, 1], range)],
        y: ["true positive rate", (tally) => tally.recall, (range) => linear([0, 1], range)] },
      { title: "Detection error tradeoff", file: "det", step: false,
        x: ["false positive rate", rate, (range) => normal([0.0005, 0.5], range)],
        y: ["miss rate", (tally) => 1 - tally.recall, (range) => normal([0.005, 0.95], range)] });
  }
  return kinds;
}

class CurveChart {
  constructor(model, state, kind) {
    Object.assign(this, { model, state, kind, criterion: state.criterion });
    this.points = new Map();
    this.chart = new Chart({
      title: kind.title,
      file: kind.file,
      x: { label: kind.x[0], scale: kind.x[2] },
      y: { label: kind.y[0], scale: kind.y[2] },
      series: () => this.series(),
      marks: () => this.marks(),
    });
  }

  // The vertices of a curve, worked out once.
  of(s, k) {
    const key = `${s},${k}`;
    if (!this.points.has(key)) {
      const { scores, tp, fp } = this.model.curves[s][this.criterion][k];
      const references = this.model.referencesOf(this.criterion, k);
      const tallies = tp.map((_, i) => new Tally(tp[i], fp[i], references, this.model.hours, null));
      this.points.set(key, {
        x: tallies.map((tally, i) => this.kind.x[1](tally, scores[i])),
        y: tallies.map((tally, i) => this.kind.y[1](tally, scores[i])),
        scores, tallies });
    }
    return this.points.get(key);
  }

  series() {
    const { model, state } = this;
    const several = model.systems.length > 1;
    const found = [];
    model.systems.forEach((name, s) => model.labels.forEach((label, k) => {
      if (!model.referencesOf(this.criterion, k) || (several && k !== (state.single ?? 0))) return;
      const { x, y, scores, tallies } = this.of(s, k);
      const single = state.single === k;
      found.push({ name: several ? `${name}: ${label}` : label, number: several ? s : k, x, y, scores,
        step: this.kind.step, strong: single, faint: state.single !== null && !single, chosen: single,
        pick: () => state.set({ single: single ? null : k }),
        about: (i) => [
          i ? `active where score ≥ ${short(scores[i])}` : "nothing detected",
          `TP ${tallies[i].tp}, FP ${tallies[i].fp}, FN ${tallies[i].fn}`,
          `precision ${fixed(tallies[i].precision)}, recall ${fixed(tallies[i].recall)}`,
          `F1 ${fixed(tallies[i].f1)}`] });
    }));
    return found;
  }

  marks() {
    const { model, state } = this;
    const several = model.systems.length > 1;
    const found = [];
    model.systems.forEach((_, s) => model.labels.forEach((_label, k) => {
      const wanted = several ? k === (state.single ?? 0) : state.single === null || state.single === k;
      if (!model.referencesOf(this.criterion, k) || !wanted) return;
      const tally = model.tally(s, this.criterion, k, state.stops[s][k]);
      const value = model.stops[k][state.stops[s][k]];
      found.push({ x: this.kind.x[1](tally, value), y: this.kind.y[1](tally, value),
        number: several ? s : k, strong: state.single === k });
    }));
    return found;
  }
}
