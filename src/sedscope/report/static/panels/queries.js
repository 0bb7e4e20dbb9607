// How many queries reach each value: one picture for each criterion that values them.

import { Chart } from "../chart.js";
import { el, whenChanged } from "../dom.js";
import { fixed } from "../format.js";
import { unpackNumber } from "../model.js";
import { unpackFractions } from "../packing.js";
import { registerPanel } from "../panel.js";
import { linear } from "../scales.js";

registerPanel("queries", ({ section, data, model, state }) => {
  const charts = data.pictures.map((picture, i) => new QueryChart(model, state, picture, i).chart);
  section.append(
    el("p", { class: "about" }, "A query is a clip and class with references. The curves show the share of queries whose " +
      "value is at least x. Hollow shapes mark metrics that are such a share."),
    el("div", { class: "figures" }, ...charts.map((chart) => chart.figure)));
  const drawAll = () => charts.forEach((chart) => chart.draw());
  state.listen(whenChanged(() => `${state.selectedClass}`, drawAll, () => {}));
  window.addEventListener("resize", drawAll);
  drawAll();
});

class QueryChart {
  constructor(model, state, { metrics, quantity, systems }, number) {
    Object.assign(this, { model, state, quantity });
    this.systems = systems.map(({ overall, classes, marks }) => ({ overall: this.unpack(overall),
      classes: classes.map((curve) => this.unpack(curve)), marks }));
    this.several = model.systems.length > 1;
    const unit = (range) => linear([0, 1], range);
    this.chart = new Chart({
      title: metrics.map((m) => model.metrics[m].name).join(", "),
      file: `queries_${number + 1}`,
      x: { label: quantity, scale: unit },
      y: { label: "share of queries", scale: unit },
      curves: () => this.curves(),
      marks: () => this.marks(),
    });
  }

  unpack(curve) {
    const { resolution } = this.model.page;
    return curve && { x: unpackFractions(curve.values, resolution), y: unpackFractions(curve.shares, resolution) };
  }

  // The overall curves and that of the selected class; of one system with several classes, those of all classes.
  curves() {
    const { model, state: { selectedClass }, several } = this;
    const curves = [];
    model.systems.forEach((system, s) => {
      const { overall, classes } = this.systems[s];
      const name = (label) => (several ? `${system}: ${label}` : label);
      if (overall && model.labels.length > 1)
        curves.push(this.curve(overall, name("all classes"), several ? s : null, { strong: true,
          faint: selectedClass !== null, select: () => this.state.set({ selectedClass: null }) }));
      classes.forEach((curve, k) => {
        const selected = selectedClass === k;
        if (!curve || (several && model.labels.length > 1 && !selected)) return;
        curves.push(this.curve(curve, name(model.labels[k]), several ? s : k, { strong: selected, selected,
          faint: selectedClass !== null && !selected, select: () => this.state.toggleClass(k) }));
      });
    });
    return curves;
  }

  curve({ x, y }, name, style, options) {
    return { name, style, x, y, step: true, end: 0, ...options,
      describe: (i) => [`${fixed(y[i])} of the queries`, `${this.quantity} at least ${fixed(x[i])}`] };
  }

  marks() {
    const { model, several, state: { selectedClass: k } } = this;
    const overall = model.labels.length > 1 ? null : 0;
    return this.systems.flatMap(({ marks }, s) => marks.map(({ smallest_hit: x, value, per_class: perClass }) => (
      { x, y: unpackNumber(k === null ? value : perClass[k]), style: several ? s : k ?? overall, strong: k !== null })));
  }
}
