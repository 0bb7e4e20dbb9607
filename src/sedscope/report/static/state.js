// What the user has chosen. Parts of the page listen, and are told once before the next picture.

import { soon } from "./dom.js";

export class State {
  constructor(model) {
    this.model = model;
    this.criterion = Math.max(0, model.criteria.findIndex((criterion) => criterion.events));
    this.single = null; // a class, or null for all
    this.system = 0; // whose table, matrix, errors are shown
    this.linked = true; // whether sliders move all systems
    this.few = false; // whether the approximation is shown
    this.clip = 0;
    this.stops = model.systems.map(() => model.labels.map(() => 0));
    this.listeners = [];
    this.announce = soon(() => this.listeners.forEach((listener) => listener()));
    this.setBestF1();
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  set(changes) {
    Object.assign(this, changes);
    this.announce();
  }

  moved() {
    return this.linked ? this.model.systems.map((_, s) => s) : [this.system];
  }

  setStop(k, stop) {
    for (const s of this.moved()) this.stops[s][k] = stop;
    this.announce();
  }

  // One threshold for all classes: every class has a stop at each common one.
  setCommon(value) {
    this.model.labels.forEach((_, k) => {
      for (const s of this.moved()) this.stops[s][k] = this.model.stopAt(k, value);
    });
    this.announce();
  }

  setBestF1() {
    this.setEach((s, k) => this.model.bestStop(s, this.criterion, k, (tally) => tally.f1));
  }

  // The largest recall at so many false alarms per hour at most.
  setRate(rate) {
    const allowed = (tally) => tally.falseAlarms <= rate;
    this.setEach((s, k) => this.model.bestStop(s, this.criterion, k, (tally) => tally.tp, allowed));
  }

  // Sets a stop for each system that moves, for the class singled out or all of them.
  setEach(stopOf) {
    for (const s of this.moved()) {
      this.model.labels.forEach((_, k) => {
        if (this.single === null || this.single === k) this.stops[s][k] = stopOf(s, k);
      });
    }
    this.announce();
  }

  tally(k, system = this.system) {
    return this.model.tally(system, this.criterion, k, this.stops[system][k]);
  }

  threshold(k, system = this.system) {
    return this.model.stops[k][this.stops[system][k]];
  }

  // The threshold that all classes have, or null.
  commonThreshold() {
    const thresholds = this.model.labels.map((_, k) => this.threshold(k));
    return thresholds.every((one) => one === thresholds[0]) ? thresholds[0] : null;
  }
}
