// Clips to browse: scores, threshold, references and detections over time.

import { addArrowKeys } from "../arrow_keys.js";
import { button, el, nameOf, svg } from "../dom.js";
import { errorTypeName, isRight } from "../error_types.js";
import { keyParts, saveCollage } from "../exports.js";
import { clipped, seconds, short } from "../format.js";
import { detectEvents, judge } from "../judge.js";
import { unpackSteps } from "../packing.js";
import { registerPanel } from "../panel.js";
import { Player } from "../player.js";
import { printing } from "../printing.js";
import { linear } from "../scales.js";
import { SpectrogramView } from "../spectrogram_view.js";
import { curveStyle, labelWithSample, swatch } from "../styles.js";
import { hideTooltip, showTooltip } from "../tooltip.js";

const LANE = { top: 16, curve: 54, bar: 9, gap: 3 };

registerPanel("clips", ({ section, data, model, state }) => new ClipBrowser(section, data.clips, model, state));

class ClipBrowser {
  constructor(section, clips, model, state) {
    Object.assign(this, { clips, model, state, ranks: new Map(), edges: new Map(), references: new Map(),
      errors: new Map(), width: null });
    this.list = el("ol", { class: "clip-list" });
    this.key = el("p", { class: "key small" });
    this.view = el("div", { class: "clip-view" });
    this.hasAudio = clips.some((clip) => clip.audio.length);
    section.append(
      el("p", { class: "about screen" }, `${clips.length} of ${model.page.header.clips} clips: those with the most ` +
        "errors at the best F1 of each class by the first criterion that judges events, then some without errors. " +
        "The list counts the errors at the chosen thresholds of the classes drawn. Scores are drawn as their rank " +
        "among the slider positions; detections are exact. " + (this.hasAudio
        ? "Click in the picture to play from there, or on an event to play it." : "")),
      el("div", { class: "browser" }, this.list, this.view));
    this.entries = clips.map((clip, i) => this.listEntry(clip, i));
    this.list.append(...this.entries.map(({ item }) => item));
    addArrowKeys(this.list, "button");
    state.listen(() => this.refresh());
    window.addEventListener("resize", () => {
      this.width = null;
      this.refresh();
    });
    this.refresh();
  }

  listEntry(clip, i) {
    const errors = el("span", { class: "errors" });
    const opener = el("button", { type: "button", onclick: () => this.state.set({ clip: i }) },
      nameOf(clip.name), errors);
    return { item: el("li", {}, opener), errors, opener };
  }

  // The events of a class in a clip, with their error types by the chosen criterion.
  eventsOf(clip, s, k) {
    const { state, model } = this;
    const ranks = this.ranksOf(clip.systems[s], k);
    const edges = this.edgesOf(clip.systems[s]);
    const detections = detectEvents(ranks, edges, state.rank(k, s));
    const byClass = this.referencesOf(clip);
    const references = byClass.get(k) ?? [];
    const others = [...byClass.keys()].filter((c) => c !== k).map((c) => byClass.get(c));
    const { rule } = model.criteria[state.criterion];
    return { ranks, edges, detections, references,
      types: rule ? judge(rule, detections, references, others) : null };
  }

  // The references of a clip by class, each with onset and offset, grouped once.
  referencesOf(clip) {
    if (!this.references.has(clip)) {
      const byClass = new Map();
      for (const [c, onset, offset] of clip.references) {
        if (!byClass.has(c)) byClass.set(c, []);
        byClass.get(c).push([onset, offset]);
      }
      this.references.set(clip, byClass);
    }
    return this.references.get(clip);
  }

  // The ranks of the scores of a class, decoded once.
  ranksOf(scores, k) {
    if (!this.ranks.has(scores)) this.ranks.set(scores, new Map());
    const byClass = this.ranks.get(scores);
    if (!byClass.has(k)) byClass.set(k, Uint8Array.from(atob(scores.ranks[k]), (c) => c.charCodeAt(0)));
    return byClass.get(k);
  }

  // The frame boundaries, unpacked once.
  edgesOf(scores) {
    if (!this.edges.has(scores)) this.edges.set(scores, unpackEdges(scores.edges));
    return this.edges.get(scores);
  }

  // How many detections are false and how many references are missed, if the criterion judges events.
  countErrors(clip, s) {
    let [wrong, missed] = [0, 0];
    for (const k of Object.keys(clip.systems[s].ranks).map(Number)) {
      const errors = this.errorsOf(clip, s, k);
      if (!errors) return null;
      wrong += errors[0];
      missed += errors[1];
    }
    return [wrong, missed];
  }

  // The same for one class, judged again only if its threshold or the criterion has changed.
  errorsOf(clip, s, k) {
    const { state } = this;
    if (!this.errors.has(clip)) this.errors.set(clip, new Map());
    const byClass = this.errors.get(clip);
    const version = `${state.criterion},${state.rank(k, s)}`;
    const key = `${s},${k}`;
    if (byClass.get(key)?.version !== version) {
      const { types } = this.eventsOf(clip, s, k);
      const wrong = types && [types.detections, types.references].map((ofSide) =>
        ofSide.filter((type) => !isRight(type)).length);
      byClass.set(key, { version, wrong });
    }
    return byClass.get(key).wrong;
  }

  refresh() {
    const { state } = this;
    this.entries.forEach(({ item, errors, opener }, i) => {
      const numbers = this.countErrors(this.clips[i], state.system);
      errors.replaceChildren(numbers ? `${numbers[0]} false, ${numbers[1]} missed` : "");
      item.classList.toggle("chosen", i === state.clip);
      opener.setAttribute("aria-pressed", String(i === state.clip));
    });
    this.draw(this.clips[state.clip]);
  }

  draw(clip) {
    const { model, state } = this;
    const { selectedClass } = state;
    const systems = state.linked ? model.systems.map((_, s) => s) : [state.system];
    const classes = Object.keys(clip.systems[0].ranks).map(Number);
    const shown = classes.includes(selectedClass) ? [selectedClass] : classes;
    this.width ??= printing.active ? printing.whole : Math.max(300, Math.min(980, this.view.clientWidth - 34 || 700));
    const { width } = this;
    const x = linear([0, clip.end / 1e6], [8, width - 8]);
    if (this.openClip !== clip) this.open(clip);
    if (this.player) this.player.removeLines();
    const parts = shown.map((k) => el("div", { class: "part" }, el("h4", {}, ...labelWithSample(k, model.labels[k])),
      ...systems.map((s) => this.lane(clip, s, k, x, width))));
    if (parts.length) parts.at(-1).append(timeAxis(x, width));
    this.key.replaceChildren(...(model.criteria[state.criterion].rule
      ? [swatch("reference right", "found reference"), swatch("reference wrong", "missed reference"),
        swatch("detection right", "true detection"), swatch("detection wrong", "false detection")]
      : [swatch("reference unknown", "reference"), swatch("detection unknown", "detection")]),
    el("span", {}, "line: score, dashed: threshold"));
    const focused = [...this.pictures.querySelectorAll(".lane")].indexOf(document.activeElement);
    this.pictures.replaceChildren(this.spectrogram?.draw(x, width) ?? "", ...parts, el("p", { class: "small" }, remarks(clip, shown)));
    if (focused >= 0) this.pictures.querySelectorAll(".lane")[focused]?.focus({ preventScroll: true });
  }

  // Builds what stays while thresholds change, so that the audio plays on.
  open(clip) {
    this.openClip = clip;
    this.player = clip.audio.length ? new Player(clip.audio) : null;
    this.spectrogram = this.player ? new SpectrogramView(clip.audio, this.player) : null;
    this.pictures = el("div", { class: this.player ? "playable" : "" });
    const silent = this.hasAudio ? el("p", { class: "small" }, "This clip has no audio.") : "";
    this.view.replaceChildren(
      el("div", { class: "tools" }, button("SVG", () => this.save(clip), { title: "Save the picture as SVG" })),
      el("h3", {}, nameOf(clip.name), ` · ${seconds(clip.end)}`), this.player ? this.player.audio : silent,
      this.spectrogram?.note ?? "", this.key, this.pictures);
  }

  save(clip) {
    const parts = [[8, 4, clipped(`${clip.name}, ${seconds(clip.end)}`, 90)]];
    let [top, width] = [30, 0];
    for (const element of this.pictures.querySelectorAll("h4, .lane")) {
      if (element.matches("h4")) {
        parts.push([8, top + 3, element.querySelector("svg"), 36, 10], [50, top, element.textContent]);
        top += 18;
      } else {
        const size = element.viewBox.baseVal;
        parts.push([0, top, element, size.width, size.height]);
        [top, width] = [top + size.height + 6, size.width];
      }
    }
    const [entries, height] = keyParts(this.key, top, Math.floor(width / 175));
    saveCollage("clip", [...parts, ...entries], width, height);
  }

  // The picture of one class and system.
  lane(clip, s, k, x, width) {
    const { model, state } = this;
    const { ranks, edges, detections, references, types } = this.eventsOf(clip, s, k);
    const bottom = LANE.top + LANE.curve;
    const height = bottom + 2 * (LANE.bar + LANE.gap) + 4;
    const y = linear([0, model.thresholds[k].length], [bottom, LANE.top]);
    const events = [
      ...eventBars("reference", references, types && types.references, bottom + LANE.gap, x),
      ...eventBars("detection", detections, types && types.detections, bottom + 2 * LANE.gap + LANE.bar, x),
    ];
    const thresholdY = y(state.rank(k, s) + 0.5);
    const system = model.systems.length > 1 ? `${clipped(model.systems[s])}, ` : "";
    const picture = svg("svg", { class: "lane", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
      "aria-label": `${model.labels[k]}: ${references.length} references, ${detections.length} detections` },
    this.spectrogram ? this.spectrogram.backdrop(LANE.top, height - LANE.top) : null,
    svg("text", { x: 8, y: 11 }, `${system}threshold ${short(state.threshold(k, s), 4)}`),
    svg("path", { class: `curve ${curveStyle(k).colour}`, d: stepPath(ranks, edges, x, y) }),
    svg("line", { class: "limit", x1: 8, x2: width - 8, y1: thresholdY, y2: thresholdY }),
    ...events.map(({ bar }) => bar), this.player ? this.player.addLine(x, height) : null);
    picture.addEventListener("click", (click) => {
      const box = picture.getBoundingClientRect();
      const event = events.find(({ bar }) => bar === click.target);
      if (event) this.play(event);
      else if (this.player) this.player.play(x.invert(((click.clientX - box.left) * width) / box.width));
    });
    this.addKeys(picture, model.labels[k], events);
    return picture;
  }

  play({ onset, offset }) {
    if (this.player) this.player.play(onset / 1e6, offset / 1e6);
  }

  // Arrow keys go from event to event and describe it. The enter key plays it.
  addKeys(picture, label, events) {
    let current = -1;
    const choose = (i) => {
      if (current >= 0) events[current].bar.classList.remove("current");
      current = i;
      if (current < 0) {
        hideTooltip();
        return;
      }
      const { bar, text } = events[current];
      bar.classList.add("current");
      const box = bar.getBoundingClientRect();
      showTooltip(box.left, box.bottom - 8, label, [text]);
    };
    picture.addEventListener("blur", () => choose(-1));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step && events.length) {
        event.preventDefault();
        choose(current < 0 && step < 0 ? events.length - 1 : (current + step + events.length) % events.length);
      }
      if (event.key === "Enter" && current >= 0) this.play(events[current]);
      if (event.key === "Escape") choose(-1);
    });
  }
}

function unpackEdges(edges) {
  if (!Array.isArray(edges)) return unpackSteps(edges);
  const [first, last, frames] = edges;
  const length = (last - first) / (frames || 1);
  return Array.from({ length: frames + 1 }, (_, i) => Math.floor(first + i * length + 0.5));
}

// The scores of a lane as steps.
function stepPath(ranks, edges, x, y) {
  const px = (time) => x(time / 1e6).toFixed(1);
  let path = "";
  ranks.forEach((rank, i) => {
    if (i === 0) path += `M${px(edges[0])} ${y(rank).toFixed(1)}`;
    else if (rank !== ranks[i - 1]) path += `V${y(rank).toFixed(1)}`;
    if (i + 1 === ranks.length || ranks[i + 1] !== rank) path += `H${px(edges[i + 1])}`;
  });
  return path;
}

// References or detections as bars. `types` is null if the criterion does not judge events.
function eventBars(kind, events, types, top, x) {
  return events.map(([onset, offset], i) => {
    const verdict = types ? `, ${verdictText(kind, types[i])}` : "";
    const text = `${kind} ${seconds(onset)} to ${seconds(offset)}${verdict}`;
    const look = types === null ? "unknown" : isRight(types[i]) ? "right" : "wrong";
    const [left, right] = [x(onset / 1e6), x(offset / 1e6)];
    return { onset, offset, text, bar: svg("rect", { class: `${kind} ${look}`, x: left.toFixed(1), y: top,
      rx: kind === "detection" ? 3 : 0, width: Math.max(1.5, right - left), height: LANE.bar },
    svg("title", {}, text)) };
  });
}

// Whether an event is right, and its error type if not.
function verdictText(kind, type) {
  if (isRight(type) || type === "missed") return errorTypeName(type);
  return `${kind === "reference" ? "missed" : "false"} (${errorTypeName(type)})`;
}

// What the pictures of a clip leave out.
function remarks(clip, shown) {
  const { frames_per_column: frames } = clip.systems[0];
  return [
    clip.undrawn ? `${clip.undrawn} more classes have scores above their threshold here.` : "",
    frames > 1 ? `This clip is long: each column is the maximum of ${frames} frames, so detections are not exact.` : "",
    shown.length ? "" : "No class has references or scores above its threshold here.",
  ].filter(Boolean).join(" ");
}

function timeAxis(x, width) {
  return svg("svg", { class: "lane time", viewBox: `0 0 ${width} 26` },
    svg("line", { class: "axis", x1: 8, x2: width - 8, y1: 1, y2: 1 }),
    ...x.ticks().map((tick) => svg("text", { x: Math.min(width - 20, Math.max(12, x(tick))), y: 16,
      "text-anchor": "middle" }, `${short(tick)} s`)));
}
