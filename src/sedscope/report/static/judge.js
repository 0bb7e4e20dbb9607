// One clip and class at one threshold: what is detected, and what the criterion says of it.
// Times are whole microseconds.

// Runs of frames above the threshold; a frame's code is the number of stops below its score.
export function detections(codes, edges, below) {
  const found = [];
  for (let i = 0; i < codes.length; i += 1) {
    if (codes[i] <= below) continue;
    const first = i;
    while (i + 1 < codes.length && codes[i + 1] > below) i += 1;
    found.push([edges[first], edges[i + 1]]);
  }
  return found;
}

// The bin of each detection and of each reference; both lists are in order of time. `others`: the
// references of each other class.
export function judged(rule, detected, references, others) {
  const fits = rule.kind === "collar" ? withinCollar(rule) : rule.kind === "iou" ? sharesEnough(rule) : null;
  const { isTrue, found } = fits ? byPairs(fits, detected, references)
    : byIntersection(rule, detected, references);
  const touching = (event, events) => events.filter((other) => shared(event, other) > 0);
  const boundary = (detection, reference) => boundaryBin(rule, detection, reference);
  return {
    references: references.map((reference, j) => {
      const by = touching(reference, detected);
      if (found[j]) return "found";
      if (!by.length) return "missed";
      if (by.length > 1) return "fragmented";
      return touching(by[0], references).length > 1 ? "merged" : boundary(by[0], reference);
    }),
    detections: detected.map((detection, i) => {
      const on = touching(detection, references);
      if (isTrue[i]) return "true";
      if (on.length > 1) return "merged";
      if (on.length) return touching(on[0], detected).length > 1 ? "fragment" : boundary(detection, on[0]);
      return others.some((events) => crosses(rule, fits, detection, references, events))
        ? "cross_trigger" : "background";
    }),
  };
}

// How the boundaries of two events differ that overlap each other and nothing else.
function boundaryBin(rule, detection, reference) {
  const [early, late] = [detection[0] - reference[0], detection[1] - reference[1]];
  if (rule.kind === "collar") {
    const [onset, offset] = collarsBroken(rule, detection, reference);
    if (onset !== offset) return onset ? "onset" : "offset";
  }
  if (early <= 0 && late >= 0) return "too_long";
  if (early >= 0 && late <= 0) return "too_short";
  return Math.abs(early) >= Math.abs(late) ? "onset" : "offset";
}

function crosses(rule, fits, detection, own, events) {
  if (rule.kind === "intersection" && rule.cttc !== null) {
    const common = events.reduce((sum, event) => sum + shared(detection, event), 0);
    return common >= needed(rule.cttc, detection[1] - detection[0]);
  }
  if (rule.cross_triggers)
    return !own.some((event) => fits(detection, event)) && events.some((event) => fits(detection, event));
  return events.some((event) => shared(detection, event) > 0);
}

function shared([a, b], [c, d]) {
  return Math.max(0, Math.min(b, d) - Math.max(a, c));
}

function needed(part, length) {
  return Math.max(1, Math.floor(part * length + 0.5));
}

function byIntersection({ dtc, gtc }, detected, references) {
  const total = (event, others) => others.reduce((sum, other) => sum + shared(event, other), 0);
  const isTrue = detected.map((one) => total(one, references) >= needed(dtc, one[1] - one[0]));
  const relevant = detected.filter((_, i) => isTrue[i]);
  const found = references.map((one) => total(one, relevant) >= needed(gtc, one[1] - one[0]));
  return { isTrue, found };
}

function collarsBroken({ onset, offset, offset_rate: rate }, detection, reference) {
  const collar = Math.max(offset ?? 0, Math.floor(rate * (reference[1] - reference[0]) + 0.5));
  return [onset !== null && Math.abs(detection[0] - reference[0]) > onset,
    offset !== null && Math.abs(detection[1] - reference[1]) > collar];
}

function withinCollar(rule) {
  return (detection, reference) => !collarsBroken(rule, detection, reference).includes(true);
}

function sharesEnough({ threshold }) {
  return (detection, reference) => {
    const common = shared(detection, reference);
    const either = detection[1] - detection[0] + reference[1] - reference[0] - common;
    return common >= needed(threshold, either);
  };
}

// As many pairs as possible, and among those with the smallest boundary errors: each detection in turn
// takes the cheapest path of moves that ends at a free reference, or drives out a costlier detection.
function byPairs(fits, detected, references) {
  const cost = detected.map((detection) => references.map((reference) => (fits(detection, reference)
    ? Math.abs(detection[0] - reference[0]) + Math.abs(detection[1] - reference[1]) : Infinity)));
  const partner = references.map(() => null);
  detected.forEach((_, i) => place(i, cost, partner));
  const taken = new Set(partner);
  return { isTrue: detected.map((_, i) => taken.has(i)), found: partner.map((one) => one !== null) };
}

function place(newcomer, cost, partner) {
  const total = partner.map((_, j) => cost[newcomer][j]);
  const before = partner.map(() => null); // the reference that the mover leaves
  for (let changed = true; changed;) {
    changed = false;
    partner.forEach((mover, from) => {
      if (mover === null || total[from] === Infinity) return;
      partner.forEach((_, to) => {
        const sum = total[from] - cost[mover][from] + cost[mover][to];
        if (sum < total[to]) [total[to], before[to], changed] = [sum, from, true];
      });
    });
  }
  const free = partner.map((_, j) => j).filter((j) => partner[j] === null && total[j] < Infinity);
  // the end of the path: a free reference, else one whose detection goes without
  const gain = (j) => total[j] - (partner[j] === null ? 0 : cost[partner[j]][j]);
  const ends = free.length ? free : partner.map((_, j) => j).filter((j) => total[j] < Infinity && gain(j) < 0);
  if (!ends.length) return;
  let at = ends.reduce((best, j) => (gain(j) < gain(best) ? j : best));
  while (before[at] !== null) {
    partner[at] = partner[before[at]];
    at = before[at];
  }
  partner[at] = newcomer;
}
