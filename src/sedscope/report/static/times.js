// Times of clips as text: seconds in a short clip, m:ss or h:mm:ss in a long one.

import { short } from "./format.js";
import { evenTicks } from "./scales.js";

const [MINUTE, HOUR] = [60, 3600];
const CLOCK_STEPS = [1, 2, 5, 10, 15, 30, ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12, 24, 48, 96, 168].map((hours) => hours * HOUR)];

// A time in seconds as text. `duration` is that of the clip, so that all times of a clip are written alike.
export function timeText(seconds, duration, digits = 3) {
  if (duration < MINUTE) return `${short(seconds, 6)} s`;
  const units = Math.round(seconds * 10 ** digits); // whole, so that 59.9996 s becomes 1:00.000
  const whole = Math.floor(units / 10 ** digits);
  const pad = (number, length) => String(number).padStart(length, "0");
  const fraction = digits ? `.${pad(units % 10 ** digits, digits)}` : "";
  const minutes = Math.floor(whole / MINUTE) % 60;
  const clock = duration < HOUR ? String(minutes) : `${Math.floor(whole / HOUR)}:${pad(minutes, 2)}`;
  return `${clock}:${pad(whole % MINUTE, 2)}${fraction}`;
}

// The marks of a time axis from `start` to `end`, at most `number` of them: [seconds, text].
export function timeTicks(start, end, duration, number) {
  const length = end - start;
  if (duration < MINUTE || length < number) {
    const digits = Math.max(0, Math.ceil(-Math.log10(length / number)));
    return evenTicks(start, end, number, false).map((tick) => [tick, timeText(tick, duration, digits)]);
  }
  const step = CLOCK_STEPS.find((candidate) => length / candidate <= number) ?? CLOCK_STEPS.at(-1);
  const ticks = [];
  for (let tick = Math.ceil(start / step) * step; tick <= end; tick += step)
    ticks.push([tick, timeText(tick, duration, 0)]);
  return ticks;
}
