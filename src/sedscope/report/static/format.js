// Numbers as text.

export function fixed(value, digits = 4) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

export function whole(value) {
  return Number.isFinite(value) ? String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009") : "–";
}

export function short(value, digits = 5) {
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  if (!Number.isFinite(value)) return "–";
  return String(Number(value.toPrecision(digits)));
}

export function signed(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  return (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
}

export function seconds(microseconds) {
  return `${short(microseconds / 1e6, 6)} s`;
}

export function clipped(text, length = 40) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
