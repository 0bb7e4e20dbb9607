// Plays the audio of a clip, and moves a line in its pictures along.

import { el, svg } from "./dom.js";

export class Player {
  // `parts` holds the stretches of the clip that have audio, in order of time.
  constructor(parts) {
    Object.assign(this, { parts, part: parts[0] });
    this.audio = el("audio", { controls: true, preload: "auto", src: this.part.url });
    this.end = Infinity; // where to stop, in seconds of the clip
    this.lines = [];
    this.audio.addEventListener("play", () => this.follow());
    this.audio.addEventListener("seeked", () => this.moveLines());
  }

  // The time in the clip, in seconds.
  get time() {
    return this.part.start / 1e6 + this.audio.currentTime;
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

  // Plays from a time on, or as much of an event as has audio.
  play(start, end = Infinity) {
    const latest = Number.isFinite(end) ? end : start;
    const part = this.parts.find((candidate) => candidate.end > start * 1e6 && candidate.start <= latest * 1e6);
    if (!part) return;
    if (part !== this.part) this.audio.src = part.url;
    Object.assign(this, { part, end });
    this.audio.currentTime = Math.max(0, start - part.start / 1e6);
    this.audio.play().catch(() => {}); // a browser may refuse before the user has touched the page
  }

  follow() {
    this.moveLines();
    if (this.audio.paused) return;
    if (this.time >= this.end) {
      this.end = Infinity;
      this.audio.pause();
    } else {
      requestAnimationFrame(() => this.follow());
    }
  }

  moveLines() {
    for (const [line, x] of this.lines) {
      const position = x(this.time);
      line.setAttribute("x1", position);
      line.setAttribute("x2", position);
    }
  }
}
