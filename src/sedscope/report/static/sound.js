// The sound of a clip, and a line in its pictures that shows where it is.

import { el, svg } from "./dom.js";

export class Sound {
  constructor(address) {
    this.player = el("audio", { controls: true, preload: "auto", src: address });
    this.until = Infinity; // where to stop, in seconds
    this.lines = [];
    this.player.addEventListener("play", () => this.follow());
    this.player.addEventListener("seeked", () => this.move());
  }

  // The line for a picture; `x` gives the position of a time in seconds.
  lineIn(x, height) {
    const line = svg("line", { class: "playhead", y1: 0, y2: height });
    this.lines.push([line, x]);
    this.move();
    return line;
  }

  forget() {
    this.lines = [];
  }

  // From a time on, to the end or to another time.
  playFrom(from, until = Infinity) {
    this.until = until;
    this.player.currentTime = from;
    this.player.play().catch(() => {}); // refused without a user's touch: the place is shown, nothing sounds
  }

  follow() {
    this.move();
    if (this.player.paused) return;
    if (this.player.currentTime >= this.until) {
      this.until = Infinity;
      this.player.pause();
    } else {
      requestAnimationFrame(() => this.follow());
    }
  }

  move() {
    for (const [line, x] of this.lines) {
      const at = x(this.player.currentTime);
      line.setAttribute("x1", at);
      line.setAttribute("x2", at);
    }
  }
}
