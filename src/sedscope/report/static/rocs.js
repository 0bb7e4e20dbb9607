// PSD-ROC curves: one picture for each PSDS.

import { Chart } from "./chart.js";
import { byId, el, whenChanged } from "./dom.js";
import { fixed, short } from "./format.js";
import { linear } from "./scales.js";

export function addRocs(model, state) {
  const section = byId("rocs");
  const holder = el("div", { class: "figures" });
  const charts = [];
  model.metrics.forEach((metric, m) => {
    if (metric.max_efpr === undefined) return;
    charts.push(new RocChart(model, state, metric, m).chart);
  });
  if (!charts.length) return;
  section.hidden = false;
  const offered = model.rocs.some((byMetric) => byMetric.some((one) => one && one.few));
  const box = el("input", { type: "checkbox", id: "few", onchange: () => state.set({ few: box.checked }) });
  section.append(
    el("p", { class: "about" }, "True positive rate over effective false positive rate, in steps; the " +
      "dashed line is the largest rate that counts. Hollow shapes are the chosen thresholds. ",
    el("span", { class: "screen" }, "Point at a curve to read it, click a class to single it out.")),
    offered ? el("p", { class: "screen" },
      el("label", {}, box, " also show what 50 evenly spaced thresholds give")) : "",
    holder,
  );
  holder.append(...charts.map((chart) => chart.figure));
  const drawAll = () => charts.forEach((chart) => chart.draw());
  state.listen(whenChanged(() => `${state.single},${state.few}`, drawAll,
    () => charts.forEach((chart) => chart.mark())));
  window.addEventListener("resize", drawAll);
  drawAll();
}

class RocChart {
  constructor(model, state, metric, m) {
    Object.assign(this, { model, state, metric, m });
    const max = metric.max_efpr;
    this.chart = new Chart({
      title: `[${m + 1}] PSD-ROC`,
      file: `psd_roc_${m + 1}`,
      x: { label: `effective false positives per ${metric.unit}`,
        scale: (range) => linear([0, max * 1.02], range) },
      y: { label: "true positive rate", scale: (range) => linear([0, 1], range) },
      limit: { x: max, text: `max eFPR ${short(max)}` },
      series: () => this.series(),
      marks: () => this.marks(),
    });
  }

  series() {
    const { model, state, m } = this;
    const several = model.systems.length > 1;
    const found = [];
    model.systems.forEach((name, s) => {
      const rocs = model.rocs[s][m];
      const kinds = state.few && rocs.few ? [rocs.exact, rocs.few] : [rocs.exact];
      kinds.forEach((kind, dashed) => {
        const suffix = dashed ? ", 50 thresholds" : "";
        const overall = several ? `${name}: all classes${suffix}` : `all classes${suffix}`;
        found.push(this.one(kind.overall, overall, several ? s : null, {
          dashed, strong: true, faint: state.single !== null, pick: () => state.set({ single: null }),
        }));
        kind.classes.forEach((curve, k) => {
          if (!curve || (several && k !== state.single)) return;
          if (dashed && k !== state.single) return;
          const label = several ? `${name}: ${model.labels[k]}` : model.labels[k];
          const single = state.single === k;
          found.push(this.one(curve, label + suffix, several ? s : k, {
            dashed, strong: single, faint: state.single !== null && !single, chosen: single,
            pick: () => state.set({ single: single ? null : k }),
          }));
        });
      });
    });
    return found;
  }

  one(curve, name, number, more) {
    const { max_efpr: max, unit } = this.metric;
    const x = curve.x.map((part) => part * max);
    return { name, number, x, y: curve.y, scores: curve.scores, step: true, end: max, ...more,
      about: (i) => [
        curve.scores ? `active where score ≥ ${short(curve.scores[i])}` : "a threshold for each class",
        `TPR ${fixed(curve.y[i])}`, `eFPR ${short(x[i])} per ${unit}`] };
  }

  marks() {
    const { model, state, m } = this;
    const found = [];
    model.systems.forEach((_, s) => model.labels.forEach((_label, k) => {
      if (!model.referencesOf(this.metric.criterion, k) || (state.single === null ? model.systems.length > 1 : state.single !== k))
        return;
      const stop = state.stops[s][k];
      const tally = model.tally(s, this.metric.criterion, k, stop);
      const x = model.rocs[s][m].stops[k][stop] * this.metric.max_efpr;
      if (x > this.metric.max_efpr * 1.02) return;
      found.push({ x, y: tally.recall, number: model.systems.length > 1 ? s : k,
        strong: state.single === k });
    }));
    return found;
  }
}
