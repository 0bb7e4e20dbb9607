// Judges one clip and class at one threshold: what is detected, and the error type of each event.
// Times are whole microseconds. An event is [onset, offset].

const MANY_EVENTS = 50; // so many are worth splitting into groups

// Runs of frames above the threshold. The rank of a frame is the number of thresholds below its score.
export function detectEvents(ranks, edges, thresholdRank) {
  const events = [];
  for (let i = 0; i < ranks.length; i += 1) {
    if (ranks[i] <= thresholdRank) continue;
    const first = i;
    while (i + 1 < ranks.length && ranks[i + 1] > thresholdRank) i += 1;
    events.push([edges[first], edges[i + 1]]);
  }
  return events;
}

// The error types of detections and references, which are both ordered by time. `others` holds the
// references of each other class. Ignored references need not be found, and a detection that matches one is "ignored",
// which is no error. A rule may have bounds of the lengths of references that count; the others are "ignored" as well.
export function judge(rule, detections, references, others, ignored = []) {
  if (rule.longest === undefined) return judgeCounted(rule, detections, references, others, ignored);
  const counts = (event) => lengthOf(event) > rule.shortest && lengthOf(event) <= rule.longest;
  const [own, left] = [references.filter(counts), references.filter((event) => !counts(event))];
  const all = [...ignored, ...left].sort((a, b) => a[0] - b[0]);
  const types = judgeCounted(rule, detections, own, others.map((events) => events.filter(counts)), all);
  const found = types.references.values();
  return { ...types, references: references.map((event) => (counts(event) ? found.next().value : "ignored")) };
}

// The same without bounds. Events that are too far apart to matter to each other are judged apart, because a
// long recording has thousands of them.
function judgeCounted(rule, detections, references, others, ignored) {
  if (rule.kind === "alarm") rule = { ...rule, alarms: alarmsAmong(detections, rule.cooldown) };
  if (detections.length + references.length + ignored.length < MANY_EVENTS)
    return judgeGroup(rule, detections, references, ignored, others);
  const reach = reachOf(rule, [...references, ...ignored]);
  const othersNear = others.map((events) => eventsNear(events));
  const types = { references: [], detections: [] };
  for (const { onset, offset, members } of groupsOf([detections, references, ignored], reach)) {
    const near = othersNear.map((find) => find(onset - reach, offset + reach));
    const judged = judgeGroup(rule, ...members, near);
    types.detections.push(...judged.detections);
    types.references.push(...judged.references);
  }
  return types;
}

// How far apart two events can be and still be a pair.
function reachOf(rule, references) {
  if (rule.kind === "alarm") return Math.max(rule.before, rule.within ?? rule.after);
  if (rule.kind !== "collar") return 0;
  const longest = references.reduce((length, event) => Math.max(length, lengthOf(event)), 0);
  return Math.max(rule.onset ?? 0, rule.offset ?? 0, rule.offset === null ? 0 : shareOf(rule.offset_rate, longest));
}

// Groups of the events of several sides, in order, between which there is more time than `reach`.
function groupsOf(sides, reach) {
  const groups = [];
  const next = sides.map(() => 0);
  while (sides.some((events, side) => next[side] < events.length)) {
    const onsets = sides.map((events, side) => events[next[side]]?.[0] ?? Infinity);
    const side = onsets.indexOf(Math.min(...onsets));
    const event = sides[side][next[side]];
    next[side] += 1;
    let group = groups.at(-1);
    if (!group || event[0] > group.offset + reach) {
      group = { onset: event[0], offset: event[1], members: sides.map(() => []) };
      groups.push(group);
    }
    group.members[side].push(event);
    group.offset = Math.max(group.offset, event[1]);
  }
  return groups;
}

// A function that finds the events, ordered by onset, that may reach into a stretch of time.
function eventsNear(events) {
  let latest = -Infinity;
  const offsets = events.map(([, offset]) => (latest = Math.max(latest, offset))); // the latest so far
  const firstWhere = (holds) => {
    let [low, high] = [0, events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return (onset, offset) =>
    events.slice(firstWhere((i) => offsets[i] >= onset), firstWhere((i) => events[i][0] > offset));
}

function judgeGroup(rule, detections, references, ignored, others) {
  const canPair = { collar: withinCollar, iou: overlapsEnough }[rule.kind]?.(rule) ?? null;
  const { isTrue, isIgnored, isFound } = canPair ? judgeByPairs(rule, canPair, detections, references, ignored)
    : (rule.kind === "alarm" ? judgeByAlarms : judgeByIntersection)(rule, detections, references, ignored);
  const touching = (event, events) => events.filter((other) => touch(event, other));
  return {
    references: references.map((reference, j) => {
      const touched = touching(reference, detections);
      if (isFound[j]) return "found";
      if (!touched.length) return "missed";
      if (touched.length > 1) return "fragmented";
      return touching(touched[0], references).length > 1 ? "merged" : boundaryError(rule, touched[0], reference);
    }),
    detections: detections.map((detection, i) => {
      const touched = touching(detection, references);
      if (isTrue[i]) return "true";
      if (isIgnored[i]) return "ignored";
      if (touched.length > 1) return "merged";
      if (touched.length)
        return touching(touched[0], detections).length > 1 ? "fragment" : boundaryError(rule, detection, touched[0]);
      return others.some((events) => isCrossTrigger(rule, canPair, detection, [...references, ...ignored], events))
        ? "cross_trigger" : "background";
    }),
  };
}

// The error type of a detection and a reference that overlap each other and nothing else.
function boundaryError(rule, detection, reference) {
  if (rule.kind === "alarm") return "onset";
  const [onset, offset] = [detection[0] - reference[0], detection[1] - reference[1]];
  if (rule.kind === "collar") {
    const [wrongOnset, wrongOffset] = outsideCollars(rule, detection, reference);
    if (wrongOnset !== wrongOffset) return wrongOnset ? "onset" : "offset";
  }
  if (onset <= 0 && offset >= 0) return "too_long";
  if (onset >= 0 && offset <= 0) return "too_short";
  return Math.abs(onset) >= Math.abs(offset) ? "onset" : "offset";
}

// Whether a detection is a cross-trigger on another class with these events.
function isCrossTrigger(rule, canPair, detection, references, events) {
  if (rule.kind === "intersection" && rule.cttc !== null)
    return totalOverlap(detection, events) >= requiredTime(rule.cttc, lengthOf(detection));
  if (rule.cross_triggers)
    return !references.some((event) => canPair(detection, event)) &&
      events.some((event) => canPair(detection, event));
  return events.some((event) => touch(detection, event));
}

function lengthOf([onset, offset]) {
  return offset - onset;
}

function overlap([a, b], [c, d]) {
  return Math.max(0, Math.min(b, d) - Math.max(a, c));
}

// Whether two events share time. A point in time, which has no length, shares it with an event that it lies in, from
// the onset on and before the offset; never with another point.
function touch(a, b) {
  const isIn = ([point, end], [onset, offset]) => point === end && onset <= point && point < offset;
  return overlap(a, b) > 0 || isIn(a, b) || isIn(b, a);
}

function totalOverlap(event, others) {
  return others.reduce((sum, other) => sum + overlap(event, other), 0);
}

// A share [numerator, denominator] of a length, rounded to the nearest microsecond, halves up.
function shareOf([numerator, denominator], length) {
  const [above, below] = [2n * BigInt(numerator) * BigInt(length), BigInt(denominator)];
  return Number((above + below) / (2n * below));
}

function requiredTime(share, length) {
  return Math.max(1, shareOf(share, length));
}

// Events that do not overlap and last as long as the given ones together.
function united(events) {
  const parts = [];
  for (const [onset, offset] of [...events].sort((a, b) => a[0] - b[0])) {
    const last = parts.at(-1);
    if (last && onset <= last[1]) last[1] = Math.max(last[1], offset);
    else parts.push([onset, offset]);
  }
  return parts;
}

function judgeByIntersection({ dtc, gtc }, detections, references, ignored) {
  const overlapping = (events) => detections.map((event) =>
    totalOverlap(event, events) >= requiredTime(dtc, lengthOf(event)));
  const isTrue = overlapping(references);
  const isRelevant = ignored.length ? overlapping(united([...references, ...ignored])) : isTrue;
  const covered = united(detections.filter((_, i) => isRelevant[i])); // scored events may overlap
  const isFound = references.map((event) =>
    totalOverlap(event, covered) >= requiredTime(gtc, lengthOf(event)));
  return { isTrue, isIgnored: isRelevant.map((relevant, i) => relevant && !isTrue[i]), isFound };
}

// The detections that raise an alarm: each at least the cooldown after the alarm before it.
function alarmsAmong(detections, cooldown) {
  let earliest = -Infinity;
  return new Set(detections.filter(([onset]) => {
    if (onset < earliest) return false;
    earliest = onset + cooldown;
    return true;
  }));
}

// Detections that raise no alarm are ignored.
function judgeByAlarms({ alarms, before, after, within }, detections, references, ignored) {
  const finds = (alarm, [onset, offset]) => alarms.has(alarm) && onset - before <= alarm[0] &&
    alarm[0] <= (within === null ? offset + after : onset + within);
  const isTrue = detections.map((alarm) => references.some((event) => finds(alarm, event)));
  return { isTrue,
    isIgnored: detections.map((alarm, i) => !alarms.has(alarm) ||
      (!isTrue[i] && ignored.some((event) => finds(alarm, event)))),
    isFound: references.map((event) => detections.some((alarm) => finds(alarm, event))) };
}

// Whether the onset and whether the offset lies outside its collar.
function outsideCollars({ onset, offset, offset_rate: rate }, detection, reference) {
  const collar = Math.max(offset ?? 0, shareOf(rate, lengthOf(reference)));
  return [onset !== null && Math.abs(detection[0] - reference[0]) > onset,
    offset !== null && Math.abs(detection[1] - reference[1]) > collar];
}

function withinCollar(rule) {
  return (detection, reference) => !outsideCollars(rule, detection, reference).includes(true);
}

function overlapsEnough({ threshold, strict }) {
  const [numerator, denominator] = threshold.map(BigInt);
  return (detection, reference) => {
    const shared = overlap(detection, reference);
    const whole = lengthOf(detection) + lengthOf(reference) - shared;
    return strict ? denominator * BigInt(shared) > numerator * BigInt(whole) : shared >= requiredTime(threshold, whole);
  };
}

// Makes as many pairs as possible, and of those choices the one with the smallest boundary errors. It is the one that the
// library makes, because the search is the same: native/criteria/least_error_matching.hpp.
function judgeByPairs(rule, canPair, detections, references, ignored) {
  const candidates = detections.map((detection, i) => [
    ...references.map((reference, j) => ({ i, j, errors: pairErrors(rule, detection, reference), event: reference })),
    ...ignored.map((reference, j) => ({ i, j: references.length + j, errors: [1, 0, 0, 0, 0], event: reference })),
  ].filter(({ event }) => canPair(detection, event)));
  const chosen = leastErrorPairs(candidates, references.length + ignored.length).filter((pair) => pair !== null);
  const detectionsOf = (counts) => new Set(chosen.filter(({ j }) => (j < references.length) === counts).map(({ i }) => i));
  const [paired, left] = [detectionsOf(true), detectionsOf(false)];
  const found = new Set(chosen.map(({ j }) => j));
  return { isTrue: detections.map((_, i) => paired.has(i)), isIgnored: detections.map((_, i) => left.has(i)),
    isFound: references.map((_, j) => found.has(j)) };
}

// The errors of a pair, the most important first: whether its reference is ignored, the absolute errors of the
// boundaries that are judged, of both, and the errors of the onset and of the offset.
function pairErrors(rule, detection, reference) {
  const [onset, offset] = [detection[0] - reference[0], detection[1] - reference[1]];
  const judges = (boundary) => rule.kind !== "collar" || rule[boundary] !== null;
  const judged = (judges("onset") ? Math.abs(onset) : 0) + (judges("offset") ? Math.abs(offset) : 0);
  return [0, judged, Math.abs(onset) + Math.abs(offset), onset, offset];
}

// The pair of each detection, or null: as many pairs as possible, with the smallest errors. Pairs are added one by one, each
// along the path of moves that adds the least error.
function leastErrorPairs(candidates, references) {
  const chosen = candidates.map(() => null);
  const detectionOf = Array(references).fill(null);
  for (;;) {
    const paths = leastPaths(candidates, chosen, references); // to each reference, from a detection without a pair
    let best = null;
    paths.forEach((path, j) => {
      if (path && detectionOf[j] === null && (best === null || isLess(path.errors, paths[best].errors))) best = j;
    });
    if (best === null) return chosen;
    for (let j = best; j !== null;) {
      const { pair } = paths[j];
      const left = chosen[pair.i] && chosen[pair.i].j;
      chosen[pair.i] = pair;
      detectionOf[j] = pair.i;
      j = left;
    }
  }
}

function leastPaths(candidates, chosen, references) {
  const paths = Array(references).fill(null);
  for (let changed = true; changed;) {
    changed = false;
    candidates.forEach((pairs, i) => {
      const own = chosen[i]; // the detection would have to leave its reference
      if (own && !paths[own.j]) return;
      const start = own ? paths[own.j].errors.map((error, n) => error - own.errors[n]) : [0, 0, 0, 0, 0];
      for (const pair of pairs) {
        if (pair === own) continue;
        const errors = start.map((error, n) => error + pair.errors[n]);
        if (paths[pair.j] && !isLess(errors, paths[pair.j].errors)) continue;
        paths[pair.j] = { errors, pair };
        changed = true;
      }
    });
  }
  return paths;
}

// Whether some errors are smaller than others: the first that differ decide.
function isLess(errors, others) {
  const n = errors.findIndex((error, k) => error !== others[k]);
  return n >= 0 && errors[n] < others[n];
}
