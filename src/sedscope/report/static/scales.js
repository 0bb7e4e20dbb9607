// Scales: functions from values to positions in a picture.

const MOST_STEPS = 8; // between the marks of an axis

// `ticked`: the range in which the axis has marks, with one at its end.
export function linear([low, high], [from, to], ticked = [low, high]) {
  const factor = (to - from) / (high - low || 1);
  const scale = (value) => from + (value - low) * factor;
  scale.invert = (position) => low + (position - from) / factor;
  scale.ticks = () => evenTicks(...ticked);
  return scale;
}

const ROOM_FOR_ZERO = 18; // pixels before the next mark

// Values below the lowest are drawn there, so the mark at this end is 0.
export function logarithmic([low, high], [from, to]) {
  const factor = (to - from) / (Math.log(high / low) || 1);
  const scale = (value) => from + Math.log(Math.max(low, value) / low) * factor;
  // Powers of ten; in a range with fewer than two, their multiples as well.
  scale.ticks = () => [0, ...[[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]]
    .map((factors) => multiplesOfPowers(factors, low, high)).find((ticks, i) => ticks.length > 1 || i === 2)
    .filter((tick) => Math.abs(scale(tick) - from) >= ROOM_FOR_ZERO)];
  return scale;
}

// The quantile of the normal distribution, as detection error tradeoff curves use it. Values outside of the range are
// drawn at its ends, and `side` tells at which.
export function normal([low, high], [from, to]) {
  const [first, last] = [quantile(low), quantile(high)];
  const factor = (to - from) / (last - first);
  const scale = (value) => from + (quantile(Math.min(high, Math.max(low, value))) - first) * factor;
  scale.side = (value) => (value < low ? -1 : value > high ? 1 : 0);
  scale.ticks = () =>
    [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99].filter((tick) => tick >= low && tick <= high);
  return scale;
}

// Some multiples of powers of ten between two ends.
function multiplesOfPowers(factors, low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power += 1)
    ticks.push(...factors.map((factor) => Number(`${factor}e${power}`)).filter((tick) => tick >= low && tick <= high));
  return ticks;
}

// The range with round ends that holds these values.
export function roundRange([low, high]) {
  const [step] = roundSteps(low, high, MOST_STEPS);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

// Round numbers between two ends, at most `number` steps apart. `withEnd`: the upper end is one of them.
export function evenTicks(low, high, number = MOST_STEPS, withEnd = true) {
  const isRound = (value, step) => Math.abs(value / step - Math.round(value / step)) < 1e-6;
  const steps = roundSteps(low, high, number);
  const fitting = steps.find((step) => (high - low) / step >= 3 - 1e-6 && isRound(low, step) && isRound(high, step));
  const step = fitting ?? steps[0];
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1)
    ticks.push(Number((i * step).toPrecision(12)));
  if (withEnd && !isRound(high, step)) {
    if (high - ticks.at(-1) < 0.4 * step) ticks.pop();
    ticks.push(high);
  }
  return ticks;
}

// Steps of 1, 2 or 5 times a power of ten that divide a range into at most `number` parts, the smallest first.
function roundSteps(low, high, number) {
  const size = high - low || 1;
  const power = 10 ** Math.floor(Math.log10(size / number));
  return [1, 2, 5, 10, 20, 50].map((factor) => factor * power).filter((step) => size / step <= number + 1e-6);
}

// Acklam's rational approximation, good to nine digits.
function quantile(p) {
  const a = [-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269,
    -30.66479806614716, 2.506628277459239];
  const b = [-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972,
    -13.28068155288572];
  const c = [-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
    4.374664141464968, 2.938163982698783];
  const d = [0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416];
  const polynomial = (coefficients, x) => coefficients.reduce((sum, factor) => sum * x + factor, 0);
  if (p < 0.02425) {
    const q = Math.sqrt(-2 * Math.log(p));
    return polynomial(c, q) / polynomial([...d, 1], q);
  }
  if (p > 1 - 0.02425) return -quantile(1 - p);
  const q = p - 0.5;
  return (polynomial(a, q * q) * q) / polynomial([...b, 1], q * q);
}
