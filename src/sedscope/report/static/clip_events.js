// The events of clips at the chosen thresholds, each with its error type.

import { isRight } from "./error_types.js";
import { detectEvents, judge } from "./judge.js";
import { unpack, unpackSteps } from "./packing.js";

export class ClipEvents {
  constructor(model, state) {
    Object.assign(this, { model, state, scores: new Map(), references: new Map(), ignored: new Map(), judged: new Map() });
  }

  // The scores, detections and references of a class in a clip. `types` holds the error types by the chosen criterion
  // and `errors` how many detections are false and references missed; both are null if it does not judge events. Judged
  // again only if the threshold or the criterion has changed.
  of(clip, s, k) {
    const { state } = this;
    const version = `${state.criterion},${state.rank(k, s)}`;
    const byClass = remembered(this.judged, clip, () => new Map());
    const key = `${s},${k}`;
    if (byClass.get(key)?.version !== version) byClass.set(key, { version, ...this.judge(clip, s, k) });
    return byClass.get(key);
  }

  judge(clip, s, k) {
    const { ranks, edges } = this.scoresOf(clip.systems[s], k);
    const threshold = this.state.rank(k, s);
    const kept = clip.systems[s].events?.[k]; // scored events, which may overlap
    const detections = kept ? kept.filter(([, , rank]) => rank > threshold).map(([onset, offset]) => [onset, offset])
      : detectEvents(ranks, edges, threshold);
    const byClass = eventsByClass(this.references, clip, clip.references);
    const ignored = eventsByClass(this.ignored, clip, clip.ignored).get(k) ?? [];
    const references = byClass.get(k) ?? [];
    const others = [...byClass.keys()].filter((c) => c !== k).map((c) => byClass.get(c));
    const { rule } = this.model.criteria[this.state.criterion];
    const types = rule ? judge(rule, detections, references, others, ignored) : null;
    const errors = types && [types.detections, types.references].map((side) =>
      side.filter((type) => !isRight(type)).length);
    return { ranks, edges, detections, references, ignored, types, errors };
  }

  // How many detections and how many references have a type, of a class or, with k = null, of all classes that are
  // drawn; null if the criterion does not judge events. `types` holds a type of references and one of detections, null
  // for neither; without it, errors of any type count.
  count(clip, s, k = null, types = null) {
    const drawn = Object.keys(clip.systems[s].ranks).map(Number);
    const classes = k === null ? drawn : drawn.filter((c) => c === k);
    const sum = [0, 0];
    for (const c of classes) {
      const { errors, types: byEvent } = this.of(clip, s, c);
      if (!errors) return null;
      const numbers = types ? [byEvent.detections.filter((type) => type === types.detections).length,
        byEvent.references.filter((type) => type === types.references).length] : errors;
      numbers.forEach((number, i) => (sum[i] += number));
    }
    return sum;
  }

  // The runs of equal scores of a class: their ranks, and the times of their boundaries.
  scoresOf(scores, k) {
    return remembered(remembered(this.scores, scores, () => new Map()), k, () => {
      const ranks = Uint8Array.from(atob(scores.ranks[k]), (c) => c.charCodeAt(0));
      const edge = edgeFunction(scores.edges);
      const lengths = scores.runs ? unpack(scores.runs[k]) : null;
      let column = 0;
      const edges = Array.from(ranks, (_, i) => edge((column += lengths ? lengths[i] : 1)));
      return { ranks, edges: [edge(0), ...edges] };
    });
  }
}

// Events of a clip by class, each with onset and offset.
function eventsByClass(byClip, clip, events) {
  return remembered(byClip, clip, () => {
    const byClass = new Map();
    for (const [c, onset, offset] of events) remembered(byClass, c, () => []).push([onset, offset]);
    return byClass;
  });
}

// The value of a key, made when it is asked for the first time.
function remembered(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

// A function from the number of a column to the time at which it begins.
function edgeFunction(edges) {
  if (!Array.isArray(edges)) {
    const times = unpackSteps(edges);
    return (i) => times[i];
  }
  const [first, length, columns, last] = edges;
  return (i) => (i < columns ? Math.floor(first + i * length + 0.5) : last);
}
