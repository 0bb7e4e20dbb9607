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

// Which detections are true and which references are found; both lists are in order of time.
export function judged(rule, detected, references) {
  if (rule.kind === "intersection") return byIntersection(rule, detected, references);
  const fits = rule.kind === "collar" ? withinCollar(rule) : sharesEnough(rule);
  return byPairs(fits, detected, references);
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

function withinCollar({ onset, offset, offset_rate: rate }) {
  return (detection, reference) => {
    const length = reference[1] - reference[0];
    const near = onset === null || Math.abs(detection[0] - reference[0]) <= onset;
    const collar = Math.max(offset ?? 0, Math.floor(rate * length + 0.5));
    return near && (offset === null || Math.abs(detection[1] - reference[1]) <= collar);
  };
}

function sharesEnough({ threshold }) {
  return (detection, reference) => {
    const common = shared(detection, reference);
    const either = detection[1] - detection[0] + reference[1] - reference[0] - common;
    return common >= needed(threshold, either);
  };
}

// As many pairs as possible, by augmenting paths.
function byPairs(fits, detected, references) {
  const partner = references.map(() => null);
  const place = (i, seen) => references.some((reference, j) => {
    if (seen.has(j) || !fits(detected[i], reference)) return false;
    seen.add(j);
    if (partner[j] !== null && !place(partner[j], seen)) return false;
    partner[j] = i;
    return true;
  });
  detected.forEach((_, i) => place(i, new Set()));
  const taken = new Set(partner);
  return { isTrue: detected.map((_, i) => taken.has(i)), found: partner.map((one) => one !== null) };
}
