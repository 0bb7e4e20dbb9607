// The data of the page, unpacked, and the quantities computed from counts. Classes are numbered as the
// classes with details are, systems and criteria as on the page.

import { isRight } from "./error_types.js";
import { unpackSteps } from "./packing.js";

const INFINITIES = { inf: Infinity, "-inf": -Infinity };

// A number as Python wrote it: null is NaN, and infinities are text.
export function unpackNumber(value) {
  return value === null ? NaN : typeof value === "string" ? INFINITIES[value] : value;
}

export class Model {
  constructor(page) {
    this.page = page;
    this.systems = page.systems;
    this.metrics = page.metrics;
    this.criteria = page.criteria;
    this.hours = page.hours;
    this.labels = page.detailed.map((c) => page.classes[c]);
    // By system and metric.
    this.values = page.values.map((byMetric) => byMetric.map(({ value, per_class: perClass, intervals }) => ({
      value: unpackNumber(value), perClass: perClass.map(unpackNumber),
      intervals: intervals && intervals.map((limits) => limits.map(unpackNumber)) })));
    // Decreasing; at position i of the slider of class k, frames with score > thresholds[k][i] are active.
    this.thresholds = page.thresholds.map((thresholds) => thresholds.map(unpackNumber));
    this.sharedThresholds = page.shared_thresholds.map(unpackNumber);
    this.counts = page.counts.map((byCriterion) =>
      byCriterion.map((classes) => classes.map(unpackCounts)));
    const errors = page.panels.find(({ name }) => name === "errors")?.data;
    this.errorTypes = errors ? ["references", "detections"].map((side) =>
      ({ side, types: errors[side === "references" ? "reference_types" : "detection_types"] })) : [];
    // By system, criterion, class and side: at each position, how many events have each type.
    this.errorCounts = errors && errors.counts.map((byCriterion) => byCriterion.map((classes) => classes &&
      classes.map((ofClass) => this.errorTypes.map(({ side }) => ofClass[side].map(unpackSteps)))));
    const { curves } = page.panels.find(({ name }) => name === "curves").data;
    this.curves = curves.map((byCriterion) => byCriterion.map(({ score_range: range, classes }) =>
      ({ range, classes: classes.map((curve) => unpackCurve(curve, range, page.resolution)) })));
  }

  // How many events of the selected class, or of all classes, have one of these types, or are errors of any type; null
  // where events are not judged. `types` holds one type of references and one of detections.
  errorCount({ system, criterion, selectedClass, positions }, types) {
    const classes = this.errorCounts?.[system][criterion];
    if (!classes) return null;
    const counts = (type, side) => (types ? type === types[side] : !isRight(type));
    return classes.flatMap((sides, k) => (selectedClass !== null && selectedClass !== k ? []
      : sides.flatMap((byType, i) => byType.map((steps, t) =>
        (counts(this.errorTypes[i].types[t], this.errorTypes[i].side) ? steps[positions[system][k]] : 0)))))
      .reduce((total, number) => total + number, 0);
  }

  // How many events there are to find, or positive segments.
  references(criterion, k) {
    return this.criteria[criterion].references[this.page.detailed[k]];
  }

  // The position of the operating point of a class; undefined for systems that have none.
  startOf(system, k) {
    return this.page.points[system]?.positions[k];
  }

  // Whether all detections of a class have one score, as in an event list without confidences.
  isOnePoint(system, criterion, k) {
    return this.criteria[criterion].one_point[system][k];
  }

  // The counts of a class at a position of its slider.
  tally(system, criterion, k, position) {
    const { tp, fp, ct } = this.counts[system][criterion][k];
    return new Tally(tp[position], fp[position], this.references(criterion, k), this.hours,
      ct ? ct[position] : null);
  }

  // The position with the largest value of a quantity; the highest threshold among equals.
  bestPosition(system, criterion, k, quantity, allowed = () => true) {
    let best = 0;
    let largest = -Infinity;
    for (let position = 0; position < this.thresholds[k].length; position += 1) {
      const tally = this.tally(system, criterion, k, position);
      const value = quantity(tally);
      if (allowed(tally) && value > largest) [best, largest] = [position, value];
    }
    return best;
  }
}

// The position of a threshold among decreasing ones, or of the next one above it.
export function positionOf(threshold, thresholds) {
  let position = thresholds.length - 1;
  while (position > 0 && thresholds[position] < threshold) position -= 1;
  return position;
}

export class Tally {
  constructor(tp, fp, references, hours, crossTriggers = null) {
    Object.assign(this, { tp, fp, references, hours, crossTriggers });
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
    return this.hours ? (this.fp * 3.6e9) / Math.round(this.hours * 3.6e9) : NaN;
  }

  plus(other) {
    const crossTriggers = this.crossTriggers === null ? null : this.crossTriggers + other.crossTriggers;
    return new Tally(this.tp + other.tp, this.fp + other.fp, this.references + other.references,
      this.hours, crossTriggers);
  }
}

function unpackCounts({ tp, fp, ct }) {
  return { tp: unpackSteps(tp), fp: unpackSteps(fp), ct: ct === null ? null : unpackSteps(ct) };
}

function unpackCurve({ scores, tp, fp, froc }, [low, high], resolution) {
  return {
    scores: unpackSteps(scores).map((number) => low + ((high - low) * number) / resolution),
    tp: unpackSteps(tp),
    fp: unpackSteps(fp),
    froc: froc && { scores: froc.scores.map((score) => score ?? Infinity), tp: unpackSteps(froc.tp),
      fp: unpackSteps(froc.fp), allUpTo: froc.all_up_to ?? Infinity, alwaysOn: froc.always_on,
      band: froc.band && { x: froc.band.per_hour, low: froc.band.low, high: froc.band.high } },
  };
}
