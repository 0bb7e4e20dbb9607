// A picture with axes, curves that can be pointed at, and marks.

import { button, byId, el, nameOf, svg } from "./dom.js";
import { clipped, short } from "./format.js";
import { saveCsv, saveSvg } from "./exports.js";

const COLOURS = 8;
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "14 4"];
const MARGIN = { top: 12, right: 16, bottom: 44, left: 54 };

// How a class or system is drawn: colour and dash repeat at different lengths, so 40 differ.
export function look(number) {
  return { colour: number % COLOURS, dash: DASHES[number % DASHES.length] };
}

export class Chart {
  // x, y: { label, scale: (range) => scale }. `series()` gives the curves: { name, number, x, y,
  // step, strong, faint, dashed, about(i), pick } with marks { x, y, number }.
  constructor({ title, file, x, y, series, marks, limit }) {
    Object.assign(this, { title, file, x, y, series, marks, limit });
    this.picture = svg("svg", { class: "chart", tabindex: 0, role: "img", "aria-label": title });
    this.legend = el("ul", { class: "legend" });
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
      button("SVG", () => saveSvg(this.file, this.picture), { title: "Save the picture as SVG" }),
      button("CSV", () => saveCsv(this.file, this.rows()), { title: "Save the curves as CSV" }));
  }

  rows() {
    const rows = [["curve", this.x.label, this.y.label, "score"]];
    for (const one of this.series())
      one.x.forEach((x, i) => rows.push([one.name, x, one.y[i], one.scores ? one.scores[i] : ""]));
    return rows;
  }

  draw() {
    const width = Math.max(300, Math.min(760, this.figure.clientWidth || 560));
    const height = Math.round(Math.min(420, width * 0.68));
    this.xScale = this.x.scale([MARGIN.left, width - MARGIN.right]);
    this.yScale = this.y.scale([height - MARGIN.bottom, MARGIN.top]);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawn = this.series();
    this.picture.replaceChildren(
      this.axes(width, height),
      ...this.drawn.map((one) => this.curve(one)),
      (this.markLayer = svg("g")),
      (this.hover = svg("g", { class: "hover" })),
    );
    this.legend.replaceChildren(...this.drawn.filter((one) => !one.quiet).map((one) => entry(one)));
    this.mark();
  }

  // Only the marks, which follow the slider.
  mark() {
    this.markLayer.replaceChildren(...this.marks().map(({ x, y, number, strong }) => {
      const [cx, cy] = [this.xScale(x), this.yScale(y)];
      if (!Number.isFinite(cx) || !Number.isFinite(cy)) return svg("g");
      const colour = number === null ? "overall" : `c${look(number).colour}`;
      return svg("circle", { cx, cy, r: strong ? 6 : 3.5, class: `mark ${colour}` });
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
    const { colour, dash } = one.number === null ? { colour: null, dash: "" } : look(one.number);
    const classes = ["curve", colour === null ? "overall" : `c${colour}`,
      one.strong ? "strong" : "", one.faint ? "faint" : ""].join(" ");
    return svg("path", { class: classes, d: this.path(one),
      "stroke-dasharray": one.dashed ? "1 4" : dash });
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
    const tip = byId("tip");
    this.hover.replaceChildren();
    tip.hidden = at === null;
    if (at === null) return;
    const one = this.drawn[at.s];
    const [cx, cy] = [this.xScale(one.x[at.i]), this.yScale(one.y[at.i])];
    this.hover.append(svg("circle", { cx, cy, r: 5 }));
    tip.replaceChildren(nameOf(clipped(one.name, 60)), ...one.about(at.i).map((line) => el("div", {}, line)));
    const box = this.picture.getBoundingClientRect();
    const factor = box.width / this.picture.viewBox.baseVal.width;
    const left = Math.min(box.left + cx * factor + 14, window.innerWidth - 230);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, box.top + cy * factor + 14)}px`;
  }

  click() {
    if (this.at !== null && this.drawn[this.at.s].pick) this.drawn[this.at.s].pick();
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter") this.click();
    if (!(event.key in moves) || !this.drawn.length) return;
    event.preventDefault();
    const [step, other] = moves[event.key];
    const s = ((this.at ? this.at.s : 0) + other + this.drawn.length) % this.drawn.length;
    const last = this.drawn[s].x.length - 1;
    this.show({ s, i: Math.max(0, Math.min(last, (this.at ? this.at.i : 0) + step)) });
  }
}

function entry(one) {
  const { colour, dash } = one.number === null ? { colour: null, dash: "" } : look(one.number);
  const sample = svg("svg", { class: "sample", viewBox: "0 0 30 10" },
    svg("line", { class: `curve ${colour === null ? "overall strong" : `c${colour}`}`,
      x1: 0, x2: 30, y1: 5, y2: 5, "stroke-dasharray": one.dashed ? "1 4" : dash }));
  const content = [sample, nameOf(one.name)];
  const pressed = String(Boolean(one.chosen));
  return el("li", { class: one.faint ? "faint" : "" },
    one.pick ? el("button", { type: "button", "aria-pressed": pressed, onclick: one.pick }, ...content)
      : el("span", {}, ...content));
}
