// What the user has chosen. Parts of the page listen, and are called once before the next frame.

import { beforeNextFrame } from "./dom.js";
import { positionOf } from "./model.js";

export class State {
  constructor(model) {
    this.model = model;
    this.criterion = Math.max(0, model.criteria.findIndex((criterion) => criterion.judges_events));
    this.selectedClass = null; // null: all classes
    this.system = 0; // the one whose table, matrix and errors are shown
    this.linked = true; // whether sliders move all systems
    this.showApproximation = false; // whether curves of evenly spaced thresholds are drawn
    this.clip = 0; // the clip that is open
    this.errors = ""; // which clips are listed: "" all, "any" those with errors, or a pair of types; see error_types.js
    this.order = "errors"; // of the list of clips
    this.positions = model.systems.map(() => model.labels.map(() => 0)); // of the sliders
    this.listeners = [];
    this.notify = beforeNextFrame(() => this.listeners.forEach((listener) => listener()));
    this.setBestF1();
    this.setPoints();
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  set(changes) {
    Object.assign(this, changes);
    this.notify();
  }

  // Selects a class, or all classes if it is selected already.
  toggleClass(k) {
    this.set({ selectedClass: this.selectedClass === k ? null : k });
  }

  movingSystems() {
    return this.linked ? this.model.systems.map((_, s) => s) : [this.system];
  }

  setPosition(k, position) {
    for (const s of this.movingSystems()) this.positions[s][k] = position;
    this.notify();
  }

  // Sets one threshold for all classes. Every class has a position for each shared threshold.
  setSharedThreshold(threshold) {
    this.model.labels.forEach((_, k) => {
      const position = positionOf(threshold, this.model.thresholds[k]);
      for (const s of this.movingSystems()) this.positions[s][k] = position;
    });
    this.notify();
  }

  setBestF1() {
    this.setPositions((s, k) => this.model.bestPosition(s, this.criterion, k, (tally) => tally.f1));
  }

  // Sets the systems that were evaluated at operating points to these.
  setPoints() {
    this.setPositions((s, k) => this.model.startOf(s, k) ?? this.positions[s][k]);
  }

  // Sets the largest recall with at most that many false alarms.
  setFalseAlarms(number) {
    const allowed = (tally) => tally.fp <= number;
    this.setPositions((s, k) =>
      this.model.bestPosition(s, this.criterion, k, (tally) => tally.tp, allowed));
  }

  // Sets the selected class, or all classes, of each system that the sliders move.
  setPositions(choose) {
    for (const s of this.movingSystems()) {
      this.model.labels.forEach((_, k) => {
        if (this.selectedClass === null || this.selectedClass === k) this.positions[s][k] = choose(s, k);
      });
    }
    this.notify();
  }

  tally(k, system = this.system) {
    return this.model.tally(system, this.criterion, k, this.positions[system][k]);
  }

  // The counts of all classes together.
  totalTally() {
    return this.model.labels.map((_, k) => this.tally(k)).reduce((sum, tally) => sum.plus(tally));
  }

  threshold(k, system = this.system) {
    return this.model.thresholds[k][this.positions[system][k]];
  }

  // How many thresholds of the class lie below the chosen one.
  rank(k, system = this.system) {
    return this.model.thresholds[k].length - 1 - this.positions[system][k];
  }

  // The threshold of all classes, or null if they differ.
  sharedThreshold() {
    const thresholds = this.model.labels.map((_, k) => this.threshold(k));
    return thresholds.every((threshold) => threshold === thresholds[0]) ? thresholds[0] : null;
  }
}
