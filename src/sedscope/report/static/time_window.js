// The stretch of a clip that its pictures show, in seconds. Pictures listen, and draw themselves again.

const SHORTEST = 0.05; // in seconds

export class TimeWindow {
  constructor(duration) {
    Object.assign(this, { duration, start: 0, end: duration, listeners: [] });
  }

  get length() {
    return this.end - this.start;
  }

  get isWhole() {
    return this.length >= this.duration;
  }

  onChange(listener) {
    this.listeners.push(listener);
  }

  // Shows a stretch, moved and shortened so that it lies in the clip.
  show(start, end) {
    const length = Math.min(this.duration, Math.max(SHORTEST, end - start));
    const first = Math.max(0, Math.min(start, this.duration - length));
    if (first === this.start && first + length === this.end) return;
    Object.assign(this, { start: first, end: first + length });
    this.listeners.forEach((listener) => listener());
  }

  showAll() {
    this.show(0, this.duration);
  }

  // Makes the stretch shorter by a factor, or longer if it is below 1. The time `at` stays in its place.
  zoom(factor, at = (this.start + this.end) / 2) {
    const length = Math.min(this.duration, Math.max(SHORTEST, this.length / factor));
    const start = at - ((at - this.start) / this.length) * length;
    this.show(start, start + length);
  }

  pan(seconds) {
    this.show(this.start + seconds, this.start + seconds + this.length);
  }

  // Moves the stretch so that an event is in the middle, unless it lies in it as far as there is room.
  reveal(onset, offset) {
    const hidden = onset < this.start || (offset > this.end && onset > this.start);
    if (hidden) this.pan((onset + Math.min(offset, onset + this.length) - this.start - this.end) / 2);
  }
}
