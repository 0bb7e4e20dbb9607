// The spectrogram of a clip: a picture of its own, and a pale one behind each lane.

import { decodeAudio } from "./audio_decoding.js";
import { el, svg } from "./dom.js";
import { MEL_BANDS, melPosition, melSpectrogram } from "./mel_spectrogram.js";

const SPECTROGRAM_HEIGHT = 168;
const SIDE = 8; // on both sides, as in lanes
const REST = 40; // milliseconds without a change before a picture is computed again
const LEVEL_RANGE = 70; // decibels between the darkest and the brightest colour
const QUIETEST_TOP = -90; // decibels; silence stays dark
const FREQUENCIES = [64000, 32000, 16000, 8000, 4000, 2000, 1000, 500, 200, 100]; // in hertz
// Red, green and blue from the quietest to the loudest level.
const LEVEL_COLOURS = [[14, 16, 36], [62, 38, 108], [150, 52, 108], [224, 96, 72], [250, 188, 106], [255, 250, 214]];

export class SpectrogramView {
  constructor(clip, player) {
    Object.assign(this, { parts: clip.audio, player, decoded: [], failed: false, images: [], top: QUIETEST_TOP,
      shown: null }); // the window that the images are for
    const heard = clip.audio.reduce((sum, { start, end }) => sum + end - start, 0);
    this.note = el("p", { class: "small", role: "status" },
      heard < clip.end ? "This page holds the audio around some errors of this recording. Grey parts have none." : "");
    this.window = svg("svg", { id: "spectrogram", x: SIDE, height: SPECTROGRAM_HEIGHT });
    this.unheard = svg("path", { class: "unheard" });
    this.frequencies = svg("g", { class: "frequencies" });
    this.picture = svg("svg", { class: "lane spectrogram", role: "img", "aria-label": "Spectrogram" },
      this.unheard, this.window, this.frequencies);
    this.picture.addEventListener("click", (click) => {
      const box = this.picture.getBoundingClientRect();
      player.play(this.x.invert(((click.clientX - box.left) * this.width) / box.width));
    });
    this.decode();
  }

  async decode() {
    for (const { url, start: first, end: last } of this.parts) {
      try {
        const { samples, rate } = await decodeAudio(url);
        const start = first / 1e6;
        const end = Math.min(last / 1e6, start + samples.length / rate);
        if (end > start) this.decoded.push({ samples, rate, start, end, origin: start });
      } catch {
        this.note.replaceChildren("This browser cannot decode all of the audio of this clip.");
      }
      if (!this.picture.isConnected) return; // another clip is open
      this.computeSoon();
    }
    if (this.decoded.length) return;
    this.failed = true;
    this.note.replaceChildren("This browser cannot decode the audio of this clip, so there is no spectrogram.");
    this.picture.remove();
  }

  // The picture for a scale of seconds; null if nothing can be decoded. What was computed for another window is moved
  // and stretched at once, and computed again when the window rests.
  draw(x, width) {
    if (this.failed) return null;
    Object.assign(this, { x, width });
    this.picture.setAttribute("viewBox", `0 0 ${width} ${SPECTROGRAM_HEIGHT}`);
    this.unheard.setAttribute("d", `M${SIDE} 0H${width - SIDE}V${SPECTROGRAM_HEIGHT}H${SIDE}Z`);
    this.window.setAttribute("width", width - 2 * SIDE);
    this.place();
    const shown = `${x.invert(SIDE)},${x.invert(width - SIDE)},${width}`;
    if (shown !== this.shown) {
      this.shown = shown;
      this.computeSoon();
    }
    this.picture.querySelector(".playhead")?.remove();
    this.picture.append(this.player.addLine(x, SPECTROGRAM_HEIGHT));
    return this.picture;
  }

  // The spectrogram behind a lane.
  backdrop(top, height) {
    return this.failed ? null : svg("use", { class: "backdrop", href: "#spectrogram",
      transform: `translate(0 ${top}) scale(1 ${height / SPECTROGRAM_HEIGHT})` });
  }

  computeSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.compute(), REST);
  }

  // Computes the stretch that is visible, one column for each pixel of the screen.
  compute() {
    if (!this.picture.isConnected) return;
    const [from, to] = [this.x.invert(SIDE), this.x.invert(this.width - SIDE)];
    const density = (Math.min(2, window.devicePixelRatio || 1) * (this.width - 2 * SIDE)) / (to - from);
    const visible = this.decoded.map(({ samples, rate, origin, ...part }) => {
      const [start, end] = [Math.max(from, part.start), Math.min(to, part.end)];
      const columns = Math.max(1, Math.round((end - start) * density));
      return start < end && { start, end, columns,
        levels: melSpectrogram(samples, rate, start - origin, end - origin, columns) };
    }).filter(Boolean);
    for (const { levels } of visible) this.top = levels.reduce((top, level) => Math.max(top, level), this.top);
    this.images = visible.map(({ start, end, columns, levels }) => ({ start, end, image: svg("image", {
      height: SPECTROGRAM_HEIGHT, preserveAspectRatio: "none", href: colouredImage(levels, columns, this.top) }) }));
    this.window.replaceChildren(...this.images.map(({ image }) => image));
    this.place();
    this.label();
  }

  place() {
    for (const { start, end, image } of this.images) {
      image.setAttribute("x", this.x(start) - SIDE);
      image.setAttribute("width", Math.max(0, this.x(end) - this.x(start)));
    }
  }

  label() {
    if (!this.decoded.length) return;
    const [{ rate }] = this.decoded;
    this.picture.setAttribute("aria-label", `Mel spectrogram from 0 to ${rate / 2000} kHz`);
    const texts = [];
    let above = 0;
    for (const hertz of FREQUENCIES) {
      const y = SPECTROGRAM_HEIGHT * (1 - melPosition(hertz, rate));
      if (y < above + 14 || y > SPECTROGRAM_HEIGHT - 6) continue;
      texts.push(svg("text", { x: SIDE + 4, y: y + 4 }, hertz < 1000 ? `${hertz} Hz` : `${hertz / 1000} kHz`));
      above = y;
    }
    this.frequencies.replaceChildren(...texts);
  }
}

// Levels in decibels as the address of a picture with one pixel for each column and band.
function colouredImage(levels, columns, top) {
  const canvas = el("canvas", { width: columns, height: MEL_BANDS });
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(columns, MEL_BANDS);
  levels.forEach((level, i) => {
    const [column, band] = [Math.floor(i / MEL_BANDS), i % MEL_BANDS];
    const share = Math.max(0, 1 + (level - top) / LEVEL_RANGE) * (LEVEL_COLOURS.length - 1);
    const below = Math.min(LEVEL_COLOURS.length - 2, Math.floor(share));
    const at = 4 * ((MEL_BANDS - 1 - band) * columns + column);
    for (let c = 0; c < 3; c += 1) {
      const [dark, bright] = [LEVEL_COLOURS[below][c], LEVEL_COLOURS[below + 1][c]];
      pixels.data[at + c] = dark + (share - below) * (bright - dark);
    }
    pixels.data[at + 3] = 255;
  });
  context.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}
