// How things are told apart, with and without colour: shapes and dashes of curves, patterns of bars.

import { el, nameOf, svg } from "./dom.js";

const COLOURS = 8;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "14 4"];
// One for each colour: circle, square, triangles, diamond, plus, cross, upright bar.
const SHAPES = [
  "M-3 0A3 3 0 1 0 3 0A3 3 0 1 0-3 0Z", "M-2.7-2.7H2.7V2.7H-2.7Z", "M0-3.6L3.4 2.4H-3.4Z",
  "M0-4L4 0L0 4L-4 0Z", "M0 3.6L3.4-2.4H-3.4Z", "M-4 0H4M0-4V4", "M-3-3L3 3M3-3L-3 3", "M-1.4-4H1.4V4H-1.4Z",
];
// Strokes on a square of six units, and their width.
const HATCHES = {
  upright: ["M3 0V6", 2], level: ["M0 3H6", 2], rising: ["M-1 1L1-1M-1 7L7-1M5 7L7 5", 1.8],
  falling: ["M-1 5L1 7M-1-1L7 7M5-1L7 1", 1.8], dots: ["M3 2V4", 2.4], checks: ["M0 1.5H3M3 4.5H6", 3],
  grid: ["M3 0V6M0 3H6", 1.4],
};
// Bins of errors, and detections in clips: colour, hatch, and whether the colour is that of the strokes.
const PATTERNS = {
  fragment: ["c0", "upright"], merged: ["c7", "level"], too_long: ["c2", "rising"], too_short: ["c4", "falling"],
  onset: ["c3", "dots"], offset: ["c6", "checks"], cross_trigger: ["c5", "grid", true],
  detection: ["c2", "rising"], false_detection: ["c1", "rising", true],
};

// How a class or system is drawn: colour and shape repeat at another length than the dash, so 40 differ.
export function look(number) {
  if (number === null) return { colour: "overall", dash: "", shape: null };
  return { colour: `c${number % COLOURS}`, dash: DASHES[number % DASHES.length],
    shape: SHAPES[number % SHAPES.length] };
}

export function shapeAt(x, y, number, attributes = {}, size = 1) {
  const { colour, shape } = look(number);
  return svg("path", { ...attributes, class: `${colour} ${attributes.class}`, d: shape ?? SHAPES[0],
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size})` });
}

// A short piece of a curve, for legends.
export function sampleOf(number, dotted = false) {
  const { colour, dash, shape } = look(number);
  return svg("svg", { class: "sample", viewBox: "0 0 36 10", width: 36, height: 10 },
    svg("line", { class: `curve ${colour} ${number === null ? "strong" : ""}`, x1: 0, x2: 36, y1: 5, y2: 5,
      "stroke-dasharray": dotted ? "1 4" : dash }),
    shape && !dotted ? shapeAt(18, 5, number, { class: "shape" }) : null);
}

// The class of a curve as a title.
export function sampled(number, name) {
  return [sampleOf(number), nameOf(name)];
}

export function addPatterns() {
  document.body.append(svg("svg", { class: "patterns", width: 0, height: 0, "aria-hidden": "true" },
    svg("defs", {}, ...Object.entries(PATTERNS).map(([name, [colour, hatch, light]]) => {
      const [d, width] = HATCHES[hatch];
      return svg("pattern", { id: `p-${name}`, class: `${colour} ${light ? "light" : ""}`, width: 6, height: 6,
        patternUnits: "userSpaceOnUse" },
      svg("rect", { class: "ground", width: 6, height: 6 }), svg("path", { class: "hatch", d, "stroke-width": width }));
    }))));
}

export function swatch(classes, text) {
  return el("span", {}, svg("svg", { class: "swatch", viewBox: "0 0 24 12", width: 24, height: 12 },
    svg("rect", { class: classes, x: 1, y: 1, width: 22, height: 10 })), ` ${text}`);
}
