// How the page tells things apart, with and without colour: shapes and dashes of curves, patterns of bars.

import { el, nameOf, svg } from "./dom.js";

const COLOURS = 20;
// Circle, square, triangle, diamond, triangle, plus, cross, vertical bar, bow tie, star.
const SHAPES = [
  "M-3 0A3 3 0 1 0 3 0A3 3 0 1 0-3 0Z", "M-2.7-2.7H2.7V2.7H-2.7Z", "M0-3.6L3.4 2.4H-3.4Z",
  "M0-4L4 0L0 4L-4 0Z", "M0 3.6L3.4-2.4H-3.4Z", "M-4 0H4M0-4V4", "M-3-3L3 3M3-3L-3 3", "M-1.4-4H1.4V4H-1.4Z",
  "M-4-3V3L4-3V3Z", "M0-4.4L1.1-1.4H4.2L1.7.5L2.6 3.6L0 1.8L-2.6 3.6L-1.7.5L-4.2-1.4H-1.1Z",
];
const DASHES = ["", "7 3", "2 3", "9 3 2 3"]; // each for as many styles as there are shapes
// Strokes on a square of six units, and their width.
const HATCHES = {
  vertical: ["M3 0V6", 2], horizontal: ["M0 3H6", 2], rising: ["M-1 1L1-1M-1 7L7-1M5 7L7 5", 1.8],
  falling: ["M-1 5L1 7M-1-1L7 7M5-1L7 1", 1.8], dots: ["M3 2V4", 2.4], checks: ["M0 1.5H3M3 4.5H6", 3],
  grid: ["M3 0V6M0 3H6", 1.4],
};
// Of error types, and of detections in clips: colour, hatch, and whether the strokes have the colour.
const PATTERNS = {
  fragment: ["c0", "vertical"], merged: ["c7", "horizontal"], too_long: ["c2", "rising"],
  too_short: ["c4", "falling"], onset: ["c3", "dots"], offset: ["c6", "checks"],
  cross_trigger: ["c5", "grid", true], detection: ["c2", "rising"], false_detection: ["c1", "rising", true],
};

// The style of a class or system. 20 styles differ in colour, and 40 in dash or shape as well.
// null is the style of all classes together.
export function curveStyle(number) {
  if (number === null) return { colour: "overall", dash: "", shape: null };
  return { colour: `c${number % COLOURS}`, shape: SHAPES[number % SHAPES.length],
    dash: DASHES[Math.floor(number / SHAPES.length) % DASHES.length] };
}

export function shapeAt(x, y, number, attributes = {}, size = 1) {
  const { colour, shape } = curveStyle(number);
  return svg("path", { ...attributes, class: `${colour} ${attributes.class}`, d: shape ?? SHAPES[0],
    transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${size})` });
}

// A short piece of a curve, for legends; only its shape if it is a point.
export function curveSample(number, dotted = false, point = false) {
  const { colour, dash, shape } = curveStyle(number);
  return svg("svg", { class: "sample", viewBox: "0 0 36 10", width: 36, height: 10 },
    point ? null : svg("line", { class: `curve ${colour} ${number === null ? "strong" : ""}`, x1: 0, x2: 36, y1: 5, y2: 5,
      "stroke-dasharray": dotted ? "1 4" : dash }),
    point || (shape && !dotted) ? shapeAt(18, 5, number, { class: "shape" }) : null);
}

// The name of a class after a piece of its curve.
export function labelWithSample(number, label) {
  return [curveSample(number), nameOf(label)];
}

// The patterns that the style sheet refers to.
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
