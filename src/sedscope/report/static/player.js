// Plays the audio of a clip, and moves a line in its pictures along.

import { el, svg } from "./dom.js";

export class Player {
  constructor(address) {
    this.audio = el("audio", { controls: true, preload: "auto", src: address });
    this.end = Infinity; // where to stop, in seconds
    this.lines = [];
    this.audio.addEventListener("play", () => this.follow());
    this.audio.addEventListener("seeked", () => this.moveLines());
  }

  // The line for a picture; `x` is its scale of seconds.
  addLine(x, height) {
    const line = svg("line", { class: "playhead", y1: 0, y2: height });
    this.lines.push([line, x]);
    this.moveLines();
    return line;
  }

  removeLines() {
    this.lines = [];
  }

  play(start, end = Infinity) {
    this.end = end;
    this.audio.currentTime = start;
    this.audio.play().catch(() => {}); // a browser may refuse before the user has touched the page
  }

  follow() {
    this.moveLines();
    if (this.audio.paused) return;
    if (this.audio.currentTime >= this.end) {
      this.end = Infinity;
      this.audio.pause();
    } else {
      requestAnimationFrame(() => this.follow());
    }
  }

  moveLines() {
    for (const [line, x] of this.lines) {
      const position = x(this.audio.currentTime);
      line.setAttribute("x1", position);
      line.setAttribute("x2", position);
    }
  }
}
