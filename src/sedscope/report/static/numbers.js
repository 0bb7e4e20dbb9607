// Whole numbers from text: base64 digits, of which the first of a number holds its sign and four bits, each
// other one five bits, and all tell whether one follows.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

export function numbersFrom(text) {
  const numbers = [];
  let [bits, factor] = [0, 1];
  for (const digit of text) {
    const value = VALUES.get(digit);
    bits += (value & 31) * factor;
    factor *= 32;
    if (value & 32) continue;
    const size = Math.floor(bits / 2);
    numbers.push(bits % 2 ? -size : size);
    [bits, factor] = [0, 1];
  }
  return numbers;
}

// The sums of the numbers up to each.
export function summed(text) {
  let total = 0;
  return numbersFrom(text).map((step) => (total += step));
}
