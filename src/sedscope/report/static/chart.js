// A picture with axes, curves that can be pointed at, and marks.

import { button, el, keepingFocus, nameOf, svg } from "./dom.js";
import { saveCsv, saveSvg } from "./exports.js";
import { clipped, short } from "./format.js";
import { look, sampleOf, shapeAt } from "./looks.js";
import { paper } from "./paper.js";
import { roving } from "./roving.js";
import { hideTip, showTip } from "./tip.js";

const MARGIN = { top: 12, right: 16, bottom: 44, left: 54 };
const GAP = 110; // between the shapes on a curve
const ENTRY = { width: 180, height: 16 }; // of the legend in a file

export class Chart {
  // x, y: { label, scale: (range) => scale }. `series()` gives the curves: { name, number, x, y,
  // step, strong, faint, dashed, about(i), pick } with marks { x, y, number }.
  constructor({ title, file, x, y, series, marks, limit }) {
    Object.assign(this, { title, file, x, y, series, marks, limit });
    this.picture = svg("svg", { class: "chart", tabindex: 0, role: "img", "aria-label": title });
    this.legend = el("ul", { class: "legend" });
    this.settle = roving(this.legend, "button");
    this.figure = el("figure", {}, el("figcaption", {}, el("span", {}, title), this.tools()),
      this.picture, this.legend);
    this.at = null;
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => this.show(null));
    this.picture.addEventListener("click", (event) => this.click(event));
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.picture.addEventListener("blur", () => this.show(null));
  }

  tools() {
    return el("span", { class: "tools" },
      button("SVG", () => this.save(), { title: "Save the picture as SVG" }),
      button("CSV", () => saveCsv(this.file, this.rows()), { title: "Save the curves as CSV" }));
  }

  // The picture with its legend, which a file needs as well.
  save() {
    const { width, height } = this.picture.viewBox.baseVal;
    const columns = Math.max(1, Math.floor((width - MARGIN.left) / ENTRY.width));
    const legend = svg("g", {}, ...this.drawn.map((one, i) => svg("g", {
      transform: `translate(${MARGIN.left + (i % columns) * ENTRY.width} ` +
        `${height + Math.floor(i / columns) * ENTRY.height})` },
    sampleOf(one.number, one.dashed), svg("text", { class: "entry", x: 42, y: 9 }, clipped(one.name, 20)))));
    this.picture.append(legend);
    saveSvg(this.file, this.picture, width, height + Math.ceil(this.drawn.length / columns) * ENTRY.height + 6);
    legend.remove();
  }

  rows() {
    const rows = [["curve", this.x.label, this.y.label, "score"]];
    for (const one of this.series())
      one.x.forEach((x, i) => rows.push([one.name, x, one.y[i], one.scores ? one.scores[i] : ""]));
    return rows;
  }

  draw() {
    const width = paper.on ? paper.half : Math.max(300, Math.min(760, this.figure.clientWidth || 560));
    const height = Math.round(Math.min(420, width * 0.68));
    this.xScale = this.x.scale([MARGIN.left, width - MARGIN.right]);
    this.yScale = this.y.scale([height - MARGIN.bottom, MARGIN.top]);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawn = this.series();
    this.picture.replaceChildren(
      this.axes(width, height),
      ...this.drawn.map((one) => this.curve(one)),
      ...this.drawn.map((one) => this.shapes(one)),
      this.drawn.length ? "" : svg("text", { class: "label", x: width / 2, y: height / 2, "text-anchor": "middle" },
        "no references: nothing to draw"),
      (this.markLayer = svg("g")),
      (this.hover = svg("g", { class: "hover" })),
    );
    keepingFocus(this.legend, () => this.legend.replaceChildren(...this.drawn.map((one) => entry(one))));
    this.settle();
    this.mark();
  }

  // Only the marks, which follow the slider.
  mark() {
    this.markLayer.replaceChildren(...this.marks().map(({ x, y, number, strong }) => {
      const [cx, cy] = [this.xScale(x), this.yScale(y)];
      if (!Number.isFinite(cx) || !Number.isFinite(cy)) return svg("g");
      return shapeAt(cx, cy, number, { class: "mark" }, strong ? 2 : 1.5);
    }));
  }

  axes(width, height) {
    const layer = svg("g", { class: "axes" });
    const [left, right] = [MARGIN.left, width - MARGIN.right];
    const [top, bottom] = [MARGIN.top, height - MARGIN.bottom];
    for (const tick of this.xScale.ticks()) {
      const at = this.xScale(tick);
      layer.append(svg("line", { class: "grid", x1: at, x2: at, y1: top, y2: bottom }),
        svg("text", { x: at, y: bottom + 16, "text-anchor": "middle" }, short(tick)));
    }
    for (const tick of this.yScale.ticks()) {
      const at = this.yScale(tick);
      layer.append(svg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }),
        svg("text", { x: left - 7, y: at + 4, "text-anchor": "end" }, short(tick)));
    }
    layer.append(
      svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
      svg("text", { class: "label", x: (left + right) / 2, y: height - 8, "text-anchor": "middle" },
        this.x.label),
      svg("text", { class: "label", transform: `translate(14 ${(top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle" }, this.y.label));
    if (this.limit) {
      const at = this.xScale(this.limit.x);
      layer.append(svg("line", { class: "limit", x1: at, x2: at, y1: top, y2: bottom }),
        svg("text", { class: "limit", x: at - 5, y: bottom - 6, "text-anchor": "end" }, this.limit.text));
    }
    return layer;
  }

  curve(one) {
    const { colour, dash } = look(one.number);
    const classes = ["curve", colour, one.strong ? "strong" : "", one.faint ? "faint" : ""].join(" ");
    return svg("path", { class: classes, d: this.path(one),
      "stroke-dasharray": one.dashed ? "1 4" : dash });
  }

  // The shape of a curve, here and there on it, at other places than those of the next one.
  shapes(one) {
    const layer = svg("g");
    if (one.number === null || one.dashed || !one.x.length) return layer;
    const points = one.x.map((x, i) => [this.xScale(x), this.yScale(one.y[i])]);
    if (one.end !== undefined) points.push([this.xScale(one.end), points.at(-1)[1]]);
    const gap = GAP * Math.max(1, this.drawn.length / 12);
    const places = placesOn(points, one.step, gap, ((0.2 + 0.382 * one.number) % 1) * gap);
    layer.append(...places.map(([x, y]) =>
      shapeAt(x, y, one.number, { class: `shape ${one.faint ? "faint" : ""}` })));
    return layer;
  }

  path({ x, y, step, end }) {
    const parts = [];
    for (let i = 0; i < x.length; i += 1) {
      const [px, py] = [this.xScale(x[i]).toFixed(1), this.yScale(y[i]).toFixed(1)];
      if (i === 0) parts.push(`M${px} ${py}`);
      else if (step) parts.push(`H${px}V${py}`);
      else parts.push(`L${px} ${py}`);
    }
    if (end !== undefined) parts.push(`H${this.xScale(end).toFixed(1)}`);
    return parts.join("");
  }

  point(event) {
    const box = this.picture.getBoundingClientRect();
    const factor = this.picture.viewBox.baseVal.width / box.width;
    const [px, py] = [(event.clientX - box.left) * factor, (event.clientY - box.top) * factor];
    let [nearest, least] = [null, 40 ** 2];
    this.drawn.forEach((one, s) => {
      for (let i = 0; i < one.x.length; i += 1) {
        const distance = (this.xScale(one.x[i]) - px) ** 2 + (this.yScale(one.y[i]) - py) ** 2;
        if (distance < least) [nearest, least] = [{ s, i }, distance];
      }
    });
    this.show(nearest);
  }

  show(at) {
    this.at = at;
    this.hover.replaceChildren();
    if (at === null) {
      hideTip();
      return;
    }
    const one = this.drawn[at.s];
    const [cx, cy] = [this.xScale(one.x[at.i]), this.yScale(one.y[at.i])];
    this.hover.append(svg("circle", { cx, cy, r: 5 }));
    const box = this.picture.getBoundingClientRect();
    const factor = box.width / this.picture.viewBox.baseVal.width;
    showTip(box.left + cx * factor, box.top + cy * factor, one.name, one.about(at.i));
  }

  click() {
    if (this.at !== null && this.drawn[this.at.s].pick) this.drawn[this.at.s].pick();
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter") this.click();
    if (event.key === "Escape") this.show(null);
    if (!(event.key in moves) || !this.drawn.length) return;
    event.preventDefault();
    const [step, other] = moves[event.key];
    const s = ((this.at ? this.at.s : 0) + other + this.drawn.length) % this.drawn.length;
    const last = this.drawn[s].x.length - 1;
    this.show({ s, i: Math.max(0, Math.min(last, (this.at ? this.at.i : 0) + step)) });
  }
}

function entry(one) {
  const content = [sampleOf(one.number, one.dashed), nameOf(one.name)];
  const pressed = String(Boolean(one.chosen));
  return el("li", { class: one.faint ? "faint" : "" },
    one.pick ? el("button", { type: "button", "aria-pressed": pressed, onclick: one.pick }, ...content)
      : el("span", {}, ...content));
}

// Points of a curve at equal distances along the first axis, or its end if it is shorter than that.
function placesOn(points, step, gap, shift) {
  const way = Math.sign(points.at(-1)[0] - points[0][0]) || 1;
  const found = [];
  let next = points[0][0] + way * shift;
  for (let i = 0; i + 1 < points.length; i += 1) {
    const [[x, y], [toX, toY]] = [points[i], points[i + 1]];
    for (; way * (next - x) >= 0 && way * (toX - next) >= 0; next += way * gap)
      found.push([next, step ? y : y + ((toY - y) * (next - x)) / (toX - x || 1)]);
  }
  return (found.length ? found : [points.at(-1)]).filter((place) => place.every(Number.isFinite));
}
