// A table of classes or groups, of which there may be thousands. Of a long table, only the rows that can be seen are in the page,
// because a browser needs seconds to lay out thousands of rows. Empty rows keep the room of the others.

import { beforeNextFrame, el } from "./dom.js";
import { printing } from "./printing.js";

const FEW = 200; // so many rows are always in the page
const STEP = 10; // rows come and go in groups
const ROW_HEIGHT = 40; // in CSS pixels, until it is measured

export class LongTable {
  // `line(row)` returns the <tr> of a row as it is now; rows have a `label`. `noun`: what a row is.
  constructor(head, foot, line, attributes = {}, noun = "class") {
    Object.assign(this, { head, line, rows: [], found: [], shown: [], height: ROW_HEIGHT, search: "" });
    [this.above, this.below] = [0, 1].map(() => el("tr", { class: "room", "aria-hidden": "true" }));
    this.body = el("tbody");
    this.table = el("table", attributes, el("thead", {}, head), this.body, el("tfoot", {}, foot));
    this.holder = el("div", { class: "scroll" }, this.table);
    this.holder.addEventListener("scroll", beforeNextFrame(() => this.draw()));
    window.addEventListener("resize", () => {
      for (const cell of this.head.children) cell.style.minWidth = "";
      this.draw();
    });
    // The browser finds only text that is in the page, so a long table has a search of its own.
    this.searchField = el("input", { type: "search", placeholder: `Find a ${noun}`, "aria-label": `Find a ${noun}`,
      class: "screen", hidden: true, oninput: (event) => {
        this.search = event.target.value.toLowerCase();
        this.setRows(this.rows);
      } });
  }

  get isLong() {
    return this.rows.length > FEW;
  }

  // Shows rows in this order, from the first one on if the order is new.
  setRows(rows) {
    this.rows = rows;
    this.found = this.search ? rows.filter(({ label }) => label.toLowerCase().includes(this.search)) : rows;
    this.searchField.hidden = !this.isLong;
    this.holder.classList.toggle("long", this.isLong);
    this.table.setAttribute("aria-rowcount", this.found.length + 2);
    this.holder.scrollTop = 0;
    this.draw();
  }

  // The first row in the page and the one after the last.
  range() {
    const number = this.found.length;
    if (!this.isLong || printing.active) return [0, number];
    const [top, height] = [this.holder.scrollTop, window.innerHeight]; // the holder is not higher than the window
    const first = STEP * Math.floor(top / this.height / STEP - 1);
    const last = STEP * Math.ceil((top + height) / this.height / STEP + 1);
    return [Math.max(0, Math.min(first, number)), Math.min(last, number)];
  }

  draw() {
    const [first, last] = this.range();
    this.shown = this.found.slice(first, last);
    const lines = this.shown.map((row, i) => {
      const line = this.line(row);
      if (this.isLong) line.setAttribute("aria-rowindex", first + i + 2);
      return line;
    });
    const rooms = this.isLong ? [[this.above, first], [this.below, this.found.length - last]] : [];
    for (const [room, rows] of rooms) room.style.height = `${rows * this.height}px`;
    this.place(this.isLong ? [this.above, ...lines, this.below] : lines);
    if (!this.isLong || printing.active) return;
    if (lines.length) this.height = this.body.getBoundingClientRect().height / this.found.length;
    const widths = [...this.head.children].map((cell) => cell.getBoundingClientRect().width);
    widths.forEach((width, i) => (this.head.children[i].style.minWidth = `${width}px`));
  }

  // Puts lines into the body. Those that stay where they are keep the focus.
  place(lines) {
    const wanted = new Set(lines);
    for (const line of [...this.body.children]) if (!wanted.has(line)) line.remove();
    let next = this.body.firstChild;
    for (const line of lines) {
      if (line === next) next = next.nextSibling;
      else this.body.insertBefore(line, next);
    }
  }
}
