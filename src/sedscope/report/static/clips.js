// Clips to look at: scores, threshold, references and detections in time.

import { button, byId, el, nameOf, svg } from "./dom.js";
import { keyPieces, savePieces } from "./exports.js";
import { clipped, seconds, short } from "./format.js";
import { detections, judged } from "./judge.js";
import { look, sampled, swatch } from "./looks.js";
import { summed } from "./numbers.js";
import { paper } from "./paper.js";
import { roving } from "./roving.js";
import { linear } from "./scales.js";
import { Sound } from "./sound.js";
import { hideTip, showTip } from "./tip.js";

const LANE = { top: 16, curve: 54, bar: 9, gap: 3 };

export class ClipBrowser {
  constructor(model, state) {
    Object.assign(this, { model, state, clips: model.data.clips, codes: new Map() });
    if (!this.clips.length) return;
    this.list = el("ol", { class: "clip-list" });
    this.key = el("p", { class: "key small" });
    this.view = el("div", { class: "clip-view" });
    const section = byId("clips");
    section.hidden = false;
    section.append(
      el("p", { class: "about screen" }, `${this.clips.length} of ${model.data.header.clips} clips: the most costly at ` +
        "the thresholds of the best F1 by the first criterion, then some without any error. Cost is false " +
        "detections plus missed references at the chosen thresholds, of the classes that are drawn. Scores are " +
        "drawn in steps from stop to stop; detections are exact. " + (this.clips.some((clip) => clip.audio)
        ? "A click in the picture plays from there, a click on an event plays the event." : "")),
      el("div", { class: "browser" }, this.list, this.view));
    this.entries = this.clips.map((clip, i) => this.entry(clip, i));
    this.list.append(...this.entries.map((one) => one.item));
    roving(this.list, "button");
    state.listen(() => this.refresh());
    window.addEventListener("resize", () => this.refresh());
    this.refresh();
  }

  // Clips are numbered alike here and in the list of names.
  has(number) {
    return number < this.clips.length;
  }

  open(number) {
    this.state.set({ clip: number });
    byId("clips").scrollIntoView();
  }

  entry(clip, i) {
    const cost = el("span", { class: "cost" });
    const chooser = el("button", { type: "button", onclick: () => this.state.set({ clip: i }) },
      nameOf(clip.name), cost);
    return { item: el("li", {}, chooser), cost, chooser };
  }

  // What is drawn of a class in a clip, with the judgement of the chosen criterion.
  lane(clip, s, k) {
    const { state, model } = this;
    const of = clip.systems[s];
    const edges = edgesOf(of);
    const codes = this.codesOf(of, k);
    const below = model.stops[k].length - 1 - state.stops[s][k];
    const detected = detections(codes, edges, below);
    const references = clip.references.filter(([c]) => c === k).map(([, onset, offset]) => [onset, offset]);
    const { rule } = model.criteria[state.criterion];
    const others = Map.groupBy(clip.references.filter(([c]) => c !== k), ([c]) => c);
    const events = [...others.values()].map((of_class) => of_class.map(([, onset, offset]) => [onset, offset]));
    return { codes, edges, detected, references,
      verdict: rule ? judged(rule, detected, references, events) : null };
  }

  codesOf(of, k) {
    if (!this.codes.has(of)) this.codes.set(of, new Map());
    const known = this.codes.get(of);
    if (!known.has(k)) known.set(k, Uint8Array.from(atob(of.codes[k]), (c) => c.charCodeAt(0)));
    return known.get(k);
  }

  cost(clip, s) {
    let [wrong, missed] = [0, 0];
    for (const k of Object.keys(clip.systems[s].codes).map(Number)) {
      const { verdict } = this.lane(clip, s, k);
      if (!verdict) return null;
      wrong += verdict.detections.filter((bin) => bin !== "true").length;
      missed += verdict.references.filter((bin) => bin !== "found").length;
    }
    return [wrong, missed];
  }

  refresh() {
    const { state } = this;
    this.entries.forEach(({ item, cost, chooser }, i) => {
      const now = this.cost(this.clips[i], state.system);
      cost.replaceChildren(now ? `${now[0]} false, ${now[1]} missed` : "");
      item.classList.toggle("chosen", i === state.clip);
      chooser.setAttribute("aria-pressed", String(i === state.clip));
    });
    this.draw(this.clips[state.clip]);
  }

  draw(clip) {
    const { model, state } = this;
    const systems = state.linked && model.systems.length > 1 ? model.systems.map((_, s) => s) : [state.system];
    const classes = Object.keys(clip.systems[0].codes).map(Number);
    const shown = state.single !== null && classes.includes(state.single) ? [state.single] : classes;
    const width = paper.on ? paper.whole : Math.max(300, Math.min(980, this.view.clientWidth - 34 || 700));
    const x = linear([0, clip.end / 1e6], [8, width - 8]);
    if (this.shownClip !== clip) this.show(clip);
    if (this.sound) this.sound.forget();
    const parts = shown.map((k) => el("div", { class: "part" }, el("h4", {}, ...sampled(k, model.labels[k])),
      ...systems.map((s) => this.picture(clip, s, k, x, width))));
    const missing = clip.left_out ? `${clip.left_out} more classes have scores above their threshold here. ` : "";
    const pooled = clip.systems[0].pool > 1
      ? `Long clip: each column is the maximum of ${clip.systems[0].pool} frames, so detections are not exact. ` : "";
    this.key.replaceChildren(...(model.criteria[state.criterion].rule
      ? [swatch("reference good", "reference found"), swatch("reference bad", "reference missed"),
        swatch("detection good", "detection true"), swatch("detection bad", "detection false")]
      : [swatch("reference unknown", "reference"), swatch("detection unknown", "detection")]),
    el("span", {}, "line: score, dashed: threshold"));
    const held = [...this.pictures.querySelectorAll(".lane")].indexOf(document.activeElement);
    if (parts.length) parts.at(-1).append(axis(x, width));
    this.pictures.replaceChildren(...parts, el("p", { class: "small" }, missing + pooled +
      (shown.length ? "" : "No class has references or scores above its threshold here.")));
    if (held >= 0) this.pictures.querySelectorAll(".lane")[held]?.focus({ preventScroll: true });
  }

  // What stays while thresholds change: the sound goes on.
  show(clip) {
    this.shownClip = clip;
    this.sound = clip.audio ? new Sound(clip.audio) : null;
    this.pictures = el("div", { class: this.sound ? "sounding" : "" });
    const silent = this.clips.some((one) => one.audio) ? el("p", { class: "small" }, "No audio of this clip.") : "";
    this.view.replaceChildren(
      el("div", { class: "tools" }, button("SVG", () => this.save(clip), { title: "Save the picture as SVG" })),
      el("h3", {}, nameOf(clip.name), ` · ${seconds(clip.end)}`), this.sound ? this.sound.player : silent,
      this.key, this.pictures);
  }

  save(clip) {
    const pieces = [[8, 4, clipped(`${clip.name}, ${seconds(clip.end)}`, 90)]];
    let [top, width] = [30, 0];
    for (const piece of this.pictures.querySelectorAll("h4, .lane")) {
      if (piece.matches("h4")) {
        pieces.push([8, top + 3, piece.querySelector("svg"), 36, 10], [50, top, piece.textContent]);
        top += 18;
      } else {
        const size = piece.viewBox.baseVal;
        pieces.push([0, top, piece, size.width, size.height]);
        [top, width] = [top + size.height + 6, size.width];
      }
    }
    const [entries, height] = keyPieces(this.key, top, Math.floor(width / 175));
    savePieces("clip", [...pieces, ...entries], width, height);
  }

  picture(clip, s, k, x, width) {
    const { model, state } = this;
    const { codes, edges, detected, references, verdict } = this.lane(clip, s, k);
    const stops = model.stops[k];
    const height = LANE.top + LANE.curve + 2 * (LANE.bar + LANE.gap) + 4;
    const bottom = LANE.top + LANE.curve;
    const y = linear([0, stops.length], [bottom, LANE.top]);
    const at = (time) => x(time / 1e6).toFixed(1);
    let path = "";
    codes.forEach((code, i) => {
      path += i === 0 ? `M${at(edges[0])} ${y(code).toFixed(1)}` : code === codes[i - 1] ? "" : `V${y(code).toFixed(1)}`;
      if (i + 1 === codes.length || codes[i + 1] !== code) path += `H${at(edges[i + 1])}`;
    });
    const line = y(stops.length - 1 - state.stops[s][k] + 0.5);
    const bars = (events, top, kind, bins) => events.map(([onset, offset], i) => {
      const text = `${kind} ${seconds(onset)} to ${seconds(offset)}${bins ? `, ${verdictOf(kind, bins[i])}` : ""}`;
      const how = bins === null ? "unknown" : bins[i] === "found" || bins[i] === "true" ? "good" : "bad";
      return { onset, offset, text, bar: svg("rect", { class: `${kind} ${how}`, x: at(onset), y: top,
        rx: kind === "detection" ? 3 : 0, width: Math.max(1.5, x(offset / 1e6) - x(onset / 1e6)),
        height: LANE.bar }, svg("title", {}, text)) };
    });
    const events = [...bars(references, bottom + LANE.gap, "reference", verdict && verdict.references),
      ...bars(detected, bottom + 2 * LANE.gap + LANE.bar, "detection", verdict && verdict.detections)];
    const name = model.systems.length > 1 ? `${clipped(model.systems[s])}, ` : "";
    const picture = svg("svg", { class: "lane", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
      "aria-label": `${model.labels[k]}: ${references.length} references, ${detected.length} detections` },
    svg("text", { x: 8, y: 11 }, `${name}threshold ${short(state.threshold(k, s), 4)}`),
    svg("path", { class: `curve ${look(k).colour}`, d: path }),
    svg("line", { class: "limit", x1: 8, x2: width - 8, y1: line, y2: line }),
    ...events.map((event) => event.bar), this.sound ? this.sound.lineIn(x, height) : null);
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const hit = events.find(({ bar }) => bar === event.target);
      if (hit) this.play(hit);
      else if (this.sound) this.sound.playFrom(x.invert(((event.clientX - box.left) * width) / box.width));
    });
    this.addKeys(picture, model.labels[k], events);
    return picture;
  }

  play({ onset, offset }) {
    if (this.sound) this.sound.playFrom(onset / 1e6, offset / 1e6);
  }

  // Arrow keys go from event to event and tell them; the enter key plays.
  addKeys(picture, label, events) {
    let at = -1;
    const choose = (i) => {
      if (at >= 0) events[at].bar.classList.remove("at");
      at = i;
      if (at < 0) {
        hideTip();
        return;
      }
      events[at].bar.classList.add("at");
      const box = events[at].bar.getBoundingClientRect();
      showTip(box.left, box.bottom - 8, label, [events[at].text]);
    };
    picture.addEventListener("blur", () => choose(-1));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step && events.length) {
        event.preventDefault();
        choose(at < 0 && step < 0 ? events.length - 1 : (at + step + events.length) % events.length);
      }
      if (event.key === "Enter" && at >= 0) this.play(events[at]);
      if (event.key === "Escape") choose(-1);
    });
  }
}

function edgesOf(of) {
  if (!of.unpacked) {
    if (Array.isArray(of.edges)) {
      const [first, last, frames] = of.edges;
      const length = (last - first) / (frames || 1);
      of.unpacked = Array.from({ length: frames + 1 }, (_, i) => Math.floor(first + i * length + 0.5));
    } else {
      of.unpacked = summed(of.edges);
    }
  }
  return of.unpacked;
}

// Whether an event is right, and in which bin it is if not.
function verdictOf(kind, bin) {
  if (bin === "found" || bin === "true" || bin === "missed") return bin;
  return `${kind === "reference" ? "missed" : "false"} (${bin})`;
}

function axis(x, width) {
  return svg("svg", { class: "lane time", viewBox: `0 0 ${width} 26` },
    svg("line", { class: "axis", x1: 8, x2: width - 8, y1: 1, y2: 1 }),
    ...x.ticks().map((tick) => svg("text", { x: Math.min(width - 20, Math.max(12, x(tick))), y: 16,
      "text-anchor": "middle" }, `${short(tick)} s`)));
}
