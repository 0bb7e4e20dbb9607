// Unpacks whole numbers from text. Each number is written in base64 digits of five bits and a sixth bit that
// says whether another digit follows. The lowest bit of a number is its sign.

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

export function unpack(text) {
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

// The numbers whose steps from one to the next the text holds.
export function unpackSteps(text) {
  let total = 0;
  return unpack(text).map((step) => (total += step));
}

// Positions along an axis, from 0 to 1.
export function unpackFractions(text, resolution) {
  return unpackSteps(text).map((number) => number / resolution);
}
