// Numbers as text.

// All numbers are rounded as Python does it, so that the page shows the digits that the command line prints: a value
// exactly between two neighbours becomes the even one, where toFixed and toExponential take the larger one.

export function fixed(value, digits = 4) {
  if (!Number.isFinite(value)) return infinityOr(value, "–");
  return isHalf(value, digits) ? evenNeighbour(value.toFixed(digits)) : value.toFixed(digits);
}

function infinityOr(value, text) {
  return value === Infinity ? "∞" : value === -Infinity ? "−∞" : text;
}

// Whether a value lies exactly between two decimals with that many digits after the point. Only odd multiples of
// 1/2^(digits + 1) do; for whole multiples of ten (digits < 0) the remainder tells.
function isHalf(value, digits) {
  const size = Math.abs(value);
  return digits >= 0 ? (size * 2 ** (digits + 1)) % 2 === 1 : size % 10 ** -digits === 10 ** -digits / 2;
}

// The larger neighbour if its last digit is even, otherwise the other one.
function evenNeighbour(larger) {
  const last = Number(larger.at(-1));
  return last % 2 ? `${larger.slice(0, -1)}${last - 1}` : larger;
}

export function whole(value) {
  return Number.isFinite(value) ? String(value) : "–";
}

// A count of a criterion: a number of events or segments, or a time that came in microseconds.
export function amount(value, { measures_time: isTime }) {
  if (!isTime) return whole(value);
  return Number.isFinite(value) ? `${fixed(value / 1e6, 1)} s` : "–";
}

// How much is false per hour: a number of events or segments, or a time. `hours`: of all clips.
export function falseAlarmRate(value, hours, criterion) {
  return criterion.measures_time ? amount(value, criterion) : fixed(value, falseAlarmDigits(hours));
}

export function short(value, digits = 5) {
  if (!Number.isFinite(value)) return infinityOr(value, "–");
  const [larger, exponent] = value.toExponential(digits - 1).split("e");
  const mantissa = isHalf(value, digits - 1 - Number(exponent)) ? evenNeighbour(larger) : larger;
  return String(Number(`${mantissa}e${exponent}`));
}

// A number in a column whose decimals are aligned; in powers of ten if it would read as 0 there.
export function aligned(value, digits) {
  const text = fixed(value, digits);
  return value !== 0 && Number(text) === 0 ? short(value, 2) : text;
}

// How many decimals a column of numbers needs: four, and fewer if the numbers are large.
export function digitsFor(values) {
  const largest = values.filter(Number.isFinite).reduce((size, value) => Math.max(size, Math.abs(value)), 0);
  return Math.max(0, Math.min(4, 4 - Math.floor(Math.log10(largest || 1))));
}

// How many decimals a rate per hour needs to show a single false alarm with three digits.
function falseAlarmDigits(hours) {
  return Math.max(1, Math.min(6, 2 + Math.ceil(Math.log10(hours || 1))));
}

export function signed(value, digits = 4) {
  if (Number.isNaN(value)) return "–";
  return (value < 0 || Object.is(value, -0) ? "−" : "+") + fixed(Math.abs(value), digits);
}

export function clipped(text, length = 40) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

export function counted(number, thing) {
  return `${whole(number)} ${thing}${number === 1 ? "" : "s"}`;
}

export function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}
