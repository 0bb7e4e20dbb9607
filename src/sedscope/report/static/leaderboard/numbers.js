// Numbers of the leaderboard: null stands for what is not defined.

import { fixed } from "../format.js";

export function numberOf(value) {
  return value === null ? NaN : value;
}

export function valueText([value, low, high]) {
  if (low === null) return fixed(numberOf(value));
  return `${fixed(numberOf(value))} (${fixed(low)}–${fixed(high)})`;
}

// The smallest and the largest of some numbers, apart from those that are not defined.
export function extremes(values) {
  return values.filter((value) => Number.isFinite(value))
    .reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}
