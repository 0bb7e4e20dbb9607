// A picture with axes, curves that the user can point at, and marks.

import { addArrowKeys } from "./arrow_keys.js";
import { button, el, keepingFocus, nameOf, svg } from "./dom.js";
import { saveCsv, saveSvg } from "./exports.js";
import { clipped, short } from "./format.js";
import { printing } from "./printing.js";
import { curveSample, curveStyle, shapeAt } from "./styles.js";
import { hideTooltip, showTooltip } from "./tooltip.js";

const MARGIN = { top: 12, right: 16, bottom: 44, left: 54 };
const SHAPE_DISTANCE = 110; // between the shapes on a curve
const LEGEND_ENTRY = { width: 180, height: 16 }; // in a saved file
const MOST_BANDS = 3; // with more curves, only that of the selected one
const REACH = 40; // how near to a vertex the user points at it

export class Chart {
  // x, y: { label, scale: (range) => scale }.
  // curves(): [{ name, style, x, y, scores, end, band: { x, low, high }, step, strong, faint, dashed, point, selected, describe(i), select() }].
  // marks(): [{ x, y, style, strong }].
  // limit: { x, text }, a dashed line.
  constructor({ title, file, x, y, curves, marks, limit }) {
    Object.assign(this, { title, file, x, y, curves, marks, limit });
    this.picture = svg("svg", { class: "chart", tabindex: 0, role: "img", "aria-label": title });
    this.legend = el("ul", { class: "legend" });
    this.updateKeys = addArrowKeys(this.legend, "button");
    this.figure = el("figure", {}, el("figcaption", {}, el("span", {}, title), this.tools()),
      this.picture, this.legend);
    this.pointed = null; // { c, i }: vertex i of curve c
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => this.show(null));
    this.picture.addEventListener("click", () => this.select());
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("blur", () => this.show(null));
  }

  tools() {
    return el("span", { class: "tools" },
      button("SVG", () => this.save(), { title: "Save the picture as SVG" }),
      button("CSV", () => saveCsv(this.file, this.rows()), { title: "Save the curves as CSV" }));
  }

  // Saves the picture with its legend below.
  save() {
    const { width, height } = this.picture.viewBox.baseVal;
    const columns = Math.max(1, Math.floor((width - MARGIN.left) / LEGEND_ENTRY.width));
    const legend = svg("g", {}, ...this.drawn.map((curve, i) => svg("g", {
      transform: `translate(${MARGIN.left + (i % columns) * LEGEND_ENTRY.width} ` +
        `${height + Math.floor(i / columns) * LEGEND_ENTRY.height})` },
    curveSample(curve.style, curve.dashed, curve.point), svg("text", { class: "entry", x: 42, y: 9 }, clipped(curve.name, 20)))));
    this.picture.append(legend);
    const rows = Math.ceil(this.drawn.length / columns);
    saveSvg(this.file, this.picture, width, height + rows * LEGEND_ENTRY.height + 6);
    legend.remove();
  }

  rows() {
    const rows = [["curve", this.x.label, this.y.label, "score"]];
    for (const { name, x, y, scores } of this.curves())
      x.forEach((value, i) => rows.push([name, value, y[i], scores ? scores[i] : ""]));
    return rows;
  }

  draw() {
    const width = printing.active ? printing.half : Math.max(300, Math.min(760, this.figure.clientWidth || 560));
    const height = Math.round(Math.min(420, width * 0.68));
    this.xScale = this.x.scale([MARGIN.left, width - MARGIN.right]);
    this.yScale = this.y.scale([height - MARGIN.bottom, MARGIN.top]);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawn = this.curves();
    this.picture.replaceChildren(
      this.axes(width, height),
      ...this.drawn.filter((curve) => curve.band && (curve.strong || this.drawn.length <= MOST_BANDS))
        .map((curve) => this.band(curve)),
      ...this.drawn.map((curve) => this.line(curve)),
      ...this.drawn.map((curve) => this.shapes(curve)),
      this.drawn.length ? "" : svg("text", { class: "label", x: width / 2, y: height / 2, "text-anchor": "middle" },
        "There are no references, so there is no curve."),
      (this.markLayer = svg("g")),
      (this.hover = svg("g", { class: "hover" })),
    );
    keepingFocus(this.legend, () =>
      this.legend.replaceChildren(...this.drawn.map((curve) => legendEntry(curve))));
    this.updateKeys();
    this.drawMarks();
  }

  // Draws only the marks, which follow the slider.
  drawMarks() {
    this.markLayer.replaceChildren(...this.marks().map(({ x, y, style, strong }) => {
      const [cx, cy] = [this.xScale(x), this.yScale(y)];
      if (!Number.isFinite(cx) || !Number.isFinite(cy)) return svg("g");
      return shapeAt(cx, cy, style, { class: "mark" }, strong ? 2 : 1.5);
    }));
  }

  axes(width, height) {
    const layer = svg("g", { class: "axes" });
    const [left, right] = [MARGIN.left, width - MARGIN.right];
    const [top, bottom] = [MARGIN.top, height - MARGIN.bottom];
    for (const tick of this.xScale.ticks()) {
      const x = this.xScale(tick);
      layer.append(svg("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }),
        svg("text", { x, y: bottom + 16, "text-anchor": "middle" }, short(tick)));
    }
    for (const tick of this.yScale.ticks()) {
      const y = this.yScale(tick);
      layer.append(svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }),
        svg("text", { x: left - 7, y: y + 4, "text-anchor": "end" }, short(tick)));
    }
    layer.append(
      svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
      svg("text", { class: "label", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" },
        this.x.label),
      svg("text", { class: "label", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle" }, this.y.label));
    if (this.limit) {
      const x = this.xScale(this.limit.x);
      layer.append(svg("line", { class: "limit", x1: x, x2: x, y1: top, y2: bottom }),
        svg("text", { class: "limit", x: x - 5, y: bottom - 6, "text-anchor": "end" }, this.limit.text));
    }
    return layer;
  }

  // The interval around a curve, in steps: along its upper end, and back along its lower end.
  band({ style, band: { x, low, high }, end }) {
    const last = this.xScale(Math.min(x.at(-1), end ?? Infinity));
    const steps = x.map((value, i) => ({ from: Math.min(last, this.xScale(value)),
      to: i + 1 < x.length ? Math.min(last, this.xScale(x[i + 1])) : last, i })).filter(({ i }) => low[i] !== null);
    if (!steps.length) return svg("g");
    const upper = steps.map(({ from, to, i }) => `${from.toFixed(1)} ${this.yScale(high[i]).toFixed(1)}H${to.toFixed(1)}`);
    const lower = steps.reverse().map(({ from, to, i }) =>
      `${to.toFixed(1)} ${this.yScale(low[i]).toFixed(1)}H${from.toFixed(1)}`);
    return svg("path", { class: `band ${curveStyle(style).colour}`, d: `M${[...upper, ...lower].join("L")}Z` });
  }

  line(curve) {
    const { colour, dash } = curveStyle(curve.style);
    const classes = ["curve", colour, curve.strong ? "strong" : "", curve.faint ? "faint" : ""].join(" ");
    return svg("path", { class: classes, d: this.path(curve),
      "stroke-dasharray": curve.dashed ? "1 4" : dash });
  }

  // Shapes along a curve, shifted so that they do not cover those of the next curve.
  shapes(curve) {
    const layer = svg("g");
    if (!curve.x.length || (!curve.point && (curve.style === null || curve.dashed))) return layer;
    const pieces = this.pieces(curve);
    if (curve.end !== undefined) pieces.at(-1).push([this.xScale(curve.end), pieces.at(-1).at(-1)[1]]);
    const lines = pieces.filter((points) => points.length > 1);
    const distance = SHAPE_DISTANCE * Math.max(1, this.drawn.length / 12);
    const shift = ((0.2 + 0.382 * curve.style) % 1) * distance;
    layer.append(...(lines.length ? lines : pieces.slice(-1))
      .flatMap((points) => pointsAlong(points, curve.step, distance, shift))
      .map(([x, y]) => shapeAt(x, y, curve.style, { class: `shape ${curve.faint ? "faint" : ""}` })));
    if (curve.ring !== undefined) {
      const { colour } = curveStyle(curve.style);
      layer.append(svg("circle", { class: `curve ring ${colour} ${curve.faint ? "faint" : ""}`, r: 6,
        cx: this.xScale(curve.x[curve.ring]), cy: this.yScale(curve.y[curve.ring]) }));
    }
    return layer;
  }

  path({ x, y, step, end }) {
    const commands = this.pieces({ x, y }).flatMap((points) => points.map((point, i) => {
      const [px, py] = point.map((pixels) => pixels.toFixed(1));
      if (i === 0) return `M${px} ${py}`;
      return step ? `H${px}V${py}` : `L${px} ${py}`;
    }));
    if (end !== undefined && x.length) commands.push(`H${this.xScale(end).toFixed(1)}`);
    return commands.join("");
  }

  // The pieces of a curve that lie inside of the picture, as lists of points in pixels.
  pieces({ x, y }) {
    const pieces = [];
    for (let i = 0; i < x.length; i += 1) {
      if (i === 0 || this.isOutside(x, y, i)) pieces.push([]);
      pieces.at(-1).push([this.xScale(x[i]), this.yScale(y[i])]);
    }
    return pieces;
  }

  // Whether a curve runs outside of the picture from vertex i - 1 to vertex i.
  isOutside(x, y, i) {
    return [[this.xScale, x], [this.yScale, y]].some(([{ side }, values]) =>
      side && side(values[i]) !== 0 && side(values[i]) === side(values[i - 1]));
  }

  point(event) {
    const box = this.picture.getBoundingClientRect();
    const factor = this.picture.viewBox.baseVal.width / box.width;
    const [px, py] = [(event.clientX - box.left) * factor, (event.clientY - box.top) * factor];
    let [nearest, least] = [null, REACH ** 2];
    this.drawn.forEach(({ x, y }, c) => {
      for (let i = 0; i < x.length; i += 1) {
        const distance = (this.xScale(x[i]) - px) ** 2 + (this.yScale(y[i]) - py) ** 2;
        if (distance < least) [nearest, least] = [{ c, i }, distance];
      }
    });
    this.show(nearest);
  }

  show(vertex) {
    this.pointed = vertex;
    this.hover.replaceChildren();
    if (vertex === null) {
      hideTooltip();
      return;
    }
    const curve = this.drawn[vertex.c];
    const [cx, cy] = [this.xScale(curve.x[vertex.i]), this.yScale(curve.y[vertex.i])];
    this.hover.append(svg("circle", { cx, cy, r: 5 }));
    const box = this.picture.getBoundingClientRect();
    const factor = box.width / this.picture.viewBox.baseVal.width;
    showTooltip(box.left + cx * factor, box.top + cy * factor, curve.name, curve.describe(vertex.i));
  }

  // Selects the curve that the user points at.
  select() {
    if (this.pointed !== null && this.drawn[this.pointed.c].select) this.drawn[this.pointed.c].select();
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter") this.select();
    if (event.key === "Escape") this.show(null);
    if (!(event.key in moves) || !this.drawn.length) return;
    event.preventDefault();
    const [vertices, curves] = moves[event.key];
    const { c: curve, i: vertex } = this.pointed ?? { c: 0, i: 0 };
    const c = (curve + curves + this.drawn.length) % this.drawn.length;
    const last = this.drawn[c].x.length - 1;
    this.show({ c, i: Math.max(0, Math.min(last, vertex + vertices)) });
  }
}

function legendEntry({ name, style, dashed, faint, point, selected, select }) {
  const content = [curveSample(style, dashed, point), nameOf(name)];
  const pressed = String(Boolean(selected));
  return el("li", { class: faint ? "faint" : "" },
    select ? el("button", { type: "button", "aria-pressed": pressed, onclick: select }, ...content)
      : el("span", {}, ...content));
}

// Points of a curve at equal distances along the first axis; its end if the curve is shorter than that.
function pointsAlong(vertices, step, distance, shift) {
  const direction = Math.sign(vertices.at(-1)[0] - vertices[0][0]) || 1;
  const points = [];
  let next = vertices[0][0] + direction * shift;
  for (let i = 0; i + 1 < vertices.length; i += 1) {
    const [[x, y], [toX, toY]] = [vertices[i], vertices[i + 1]];
    for (; direction * (next - x) >= 0 && direction * (toX - next) >= 0; next += direction * distance)
      points.push([next, step ? y : y + ((toY - y) * (next - x)) / (toX - x || 1)]);
  }
  return (points.length ? points : [vertices.at(-1)]).filter((point) => point.every(Number.isFinite));
}
