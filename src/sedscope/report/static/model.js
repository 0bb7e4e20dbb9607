// What the page is told, unpacked, and the quantities read off the counts.

import { summed } from "./numbers.js";

const INFINITIES = { inf: Infinity, "-inf": -Infinity };

function threshold(value) {
  return typeof value === "string" ? INFINITIES[value] : value;
}

export class Model {
  constructor(data) {
    this.data = data;
    this.systems = data.systems;
    this.metrics = data.metrics;
    this.criteria = data.criteria;
    this.hours = data.hours;
    this.labels = data.shown.map((c) => data.classes[c]);
    this.stops = data.stops.map((stops) => stops.map(threshold));
    this.common = data.common.map(threshold);
    this.counts = data.counts.map((byCriterion) =>
      byCriterion.map((classes) => classes.map(unpackedCounts)));
    this.curves = data.curves.map((byCriterion) =>
      byCriterion.map(({ span, classes }) => classes.map((one) => unpackedCurve(one, span, data.fine))));
    this.rocs = data.rocs.map((byMetric) => byMetric.map((one) => one && unpackedRocs(one, data)));
  }

  // What there is to find: events, or segments in which a class is active.
  referencesOf(criterion, k) {
    return this.criteria[criterion].references[k];
  }

  // The counts of a class at one of its stops.
  tally(system, criterion, k, stop) {
    const counts = this.counts[system][criterion][k];
    const crossed = counts.crossed ? counts.crossed[stop] : null;
    return new Tally(counts.tp[stop], counts.fp[stop], this.referencesOf(criterion, k), this.hours, crossed);
  }

  // The stop with the largest value of a quantity; of equal ones the highest threshold.
  bestStop(system, criterion, k, quantity, allowed = () => true) {
    let best = 0;
    let most = -Infinity;
    for (let stop = 0; stop < this.stops[k].length; stop += 1) {
      const tally = this.tally(system, criterion, k, stop);
      const value = quantity(tally);
      if (allowed(tally) && value > most) [best, most] = [stop, value];
    }
    return best;
  }

  // The stop of a threshold, or the next one above it.
  stopAt(k, value) {
    const stops = this.stops[k];
    let stop = stops.length - 1;
    while (stop > 0 && stops[stop] < value) stop -= 1;
    return stop;
  }
}

export class Tally {
  constructor(tp, fp, references, hours, crossed) {
    Object.assign(this, { tp, fp, references, hours, crossed });
  }

  get fn() {
    return this.references - this.tp;
  }

  get precision() {
    return this.tp + this.fp ? this.tp / (this.tp + this.fp) : 1;
  }

  get recall() {
    return this.references ? this.tp / this.references : NaN;
  }

  get f1() {
    if (!this.references) return NaN;
    return (2 * this.tp) / (2 * this.tp + this.fn + this.fp);
  }

  get errorRate() {
    return this.references ? (this.fn + this.fp) / this.references : NaN;
  }

  get falseAlarms() {
    return this.hours ? this.fp / this.hours : NaN;
  }

  plus(other) {
    const crossed = this.crossed === null ? null : this.crossed + other.crossed;
    const [tp, fp] = [this.tp + other.tp, this.fp + other.fp];
    return new Tally(tp, fp, this.references + other.references, this.hours, crossed);
  }
}

function unpackedCounts(packed) {
  const ct = new Map(Object.entries(packed.ct || {}).map(([m, steps]) => [Number(m), summed(steps)]));
  return {
    tp: summed(packed.tp),
    fp: summed(packed.fp),
    ct,
    crossed: packed.crossed ? summed(packed.crossed) : null,
    bins: packed.bins ? packed.bins.map((side) => side.map(summed)) : null,
  };
}

function unpackedCurve(packed, [low, high], fine) {
  const scores = summed(packed.at).map((at) => low + ((high - low) * at) / fine);
  return { scores, tp: summed(packed.tp), fp: summed(packed.fp) };
}

function unpackedRocs(packed, data) {
  const part = (numbers) => summed(numbers).map((number) => number / data.fine);
  const all = ({ overall, classes, ...rest }) => ({
    ...rest,
    overall: { x: part(overall.x), y: part(overall.y) },
    classes: classes.map((curve, k) => curve && {
      x: part(curve.x),
      y: summed(curve.y).map((tp) => tp / data.references[data.shown[k]]),
      scores: curve.score.map((score) => (score === null ? Infinity : score)),
    }),
  });
  return {
    exact: all(packed.exact),
    few: packed.few ? all(packed.few) : null,
    stops: packed.stops.map(part),
  };
}
