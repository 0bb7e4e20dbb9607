// Clips to browse: scores, threshold, references and detections over time.

import { addArrowKeys } from "../arrow_keys.js";
import { ClipEvents } from "../clip_events.js";
import { beforeNextFrame, button, el, nameOf, select, svg } from "../dom.js";
import { errorPair, errorPairName, errorPairTypes } from "../error_types.js";
import { keyParts, saveCollage } from "../exports.js";
import { aligned, clipped, counted, digitsFor, whole } from "../format.js";
import { eventBars, rowsOf, stemPath, stepPath, timeAxis } from "../lane_parts.js";
import { registerPanel } from "../panel.js";
import { Player } from "../player.js";
import { printing } from "../printing.js";
import { linear } from "../scales.js";
import { SpectrogramView } from "../spectrogram_view.js";
import { curveStyle, labelWithSample, swatch } from "../styles.js";
import { TimeWindow } from "../time_window.js";
import { timeText } from "../times.js";
import { hideTooltip, showTooltip } from "../tooltip.js";
import { addZoomGestures, zoomByKey, zoomControls } from "../zoom_controls.js";

const LANE = { top: 16, curve: 54, bar: 9, gap: 3, side: 8, rows: 4 };

registerPanel("clips", ({ section, data, model, state }) => new ClipBrowser(section, data.clips, model, state));

class ClipBrowser {
  constructor(section, clips, model, state) {
    Object.assign(this, { clips, model, state, events: new ClipEvents(model, state), width: null,
      search: "",
      pointed: null }); // the event of the focused lane that the user went to with keys: { i }
    this.list = el("ol", { class: "clip-list" });
    this.status = el("p", { class: "order small", role: "status" });
    this.filters = this.filterFields();
    this.key = el("p", { class: "key small" });
    this.view = el("div", { class: "clip-view" });
    this.hasAudio = clips.some((clip) => clip.audio.length);
    this.thresholdDigits = digitsFor(model.thresholds.flat());
    section.append(
      el("p", { class: "about screen" }, `${clips.length} of ${model.page.header.clips} clips: the clips with the ` +
        "most errors at each class's best F1, and some without errors. The option --clips-shown adds others. " +
        `The list counts the errors${model.systems.length > 1 ? " of the chosen system" : ""} at the chosen thresholds, of the ` +
        "classes drawn or of the selected class. Scores are " +
        "drawn as their rank among the slider positions; detections are exact. Control + wheel zooms, and dragging moves. " +
        (this.hasAudio ? "Click in the picture to play from there, or on an event to play it." : "")),
      el("div", { class: "browser" }, el("div", {}, this.filters.box, this.status, this.list), this.view));
    this.entries = clips.map((clip, i) => this.listEntry(clip, i));
    this.updateKeys = addArrowKeys(this.list, "li:not([hidden]) button");
    this.drawSoon = beforeNextFrame(() => this.draw(this.openClip));
    this.listed = this.listKey(); // what is listed; when it changes, a clip of the list is opened
    state.listen(() => this.refresh());
    window.addEventListener("resize", () => {
      this.width = null;
      this.refresh();
    });
    this.refresh();
    const [list, open] = [this.list, this.entries[state.clip].item].map((element) => element.getBoundingClientRect().top);
    this.list.scrollTop = open - list; // the open clip need not be the first
  }

  listEntry(clip, i) {
    const errors = el("span", { class: "errors" });
    const opener = el("button", { type: "button", onclick: () => this.state.set({ clip: i }) },
      nameOf(clip.name), errors);
    return { item: el("li", {}, opener), errors, opener };
  }

  // The fields that choose what is listed, and in which order.
  filterFields() {
    const { model, state } = this;
    const pairs = model.errorTypes.flatMap(({ side, types }) => types.map((type) =>
      (side === "references" ? errorPair(type, null) : errorPair(null, type))));
    const name = (pair) => errorPairName(errorPairTypes(pair));
    const errors = select("List", [["", "all clips"], ["any", "errors of any type"], ...pairs.map((pair) => [pair, name(pair)])],
      (value) => state.set({ errors: value }), { id: "listed-errors" });
    const orders = [["errors", "most errors"], ["name", "name"],
      ...(model.systems.length > 1 ? [["difference", "systems differ most"]] : [])];
    const order = select("Order", orders, (value) => state.set({ order: value }), { id: "clip-order" });
    const search = el("input", { type: "search", placeholder: "Find a clip", "aria-label": "Find a clip",
      oninput: () => {
        this.search = search.value.toLowerCase();
        this.refresh();
      } });
    return { errors: errors.querySelector("select"), order: order.querySelector("select"),
      box: el("div", { class: "filters screen" }, search, errors, order) };
  }

  listKey() {
    return `${this.state.selectedClass} ${this.state.errors}`;
  }

  refresh() {
    const { state, clips } = this;
    const types = errorPairTypes(state.errors);
    const counts = (s) => clips.map((clip) => this.events.count(clip, s, state.selectedClass, types));
    const bySystem = this.model.systems.map((_, s) => (s === state.system || state.order === "difference" ? counts(s) : null));
    this.sort(bySystem, types);
    this.entries.forEach(({ item, errors: text, opener }, i) => {
      const numbers = bySystem.filter(Boolean).map((of) => of[i]);
      const [sides] = numbers;
      text.replaceChildren(!sides ? ""
        : numbers.length > 1 ? numbers.map((of, s) => `${clipped(this.model.systems[s], 20)}: ${sum(of)}`).join(", ")
        : types ? counted(sum(sides), "event") : `${sides[0]} false, ${sides[1]} missed`);
      item.classList.toggle("chosen", i === state.clip);
      opener.setAttribute("aria-pressed", String(i === state.clip));
    });
    this.draw(clips[state.clip]);
  }

  // Sorts the list and leaves out what was not asked for. If another class or type was chosen, the first clip of the list
  // is opened unless the open one has errors of it.
  sort(bySystem, types) {
    const { state, clips } = this;
    const own = bySystem[state.system].map(sum);
    const spread = (i) => {
      const numbers = bySystem.map((counts) => sum(counts[i]));
      return Math.max(...numbers) - Math.min(...numbers);
    };
    const key = state.order === "difference" ? clips.map((_, i) => spread(i)) : own;
    const isListed = (i) => (state.errors === "" || own[i] > 0 || (state.order === "difference" && key[i] > 0)) &&
      clips[i].name.toLowerCase().includes(this.search);
    const byName = (i, j) => clips[i].name.localeCompare(clips[j].name, "en", { numeric: true });
    const order = clips.map((_, i) => i).sort((i, j) =>
      (state.order === "name" ? byName(i, j) : key[j] - key[i]) || i - j);
    const listed = order.filter(isListed);
    if (String(order) !== this.sorted) this.list.append(...order.map((i) => this.entries[i].item));
    this.sorted = String(order);
    this.entries.forEach(({ item }, i) => (item.hidden = !isListed(i)));
    if (this.listed !== this.listKey()) {
      this.listed = this.listKey();
      this.list.scrollTop = 0;
      const first = listed.find((i) => own[i] > 0);
      if (first !== undefined && !own[state.clip]) state.clip = first;
    }
    this.updateKeys();
    this.filters.errors.value = state.errors;
    if (types && this.filters.errors.value !== state.errors) { // the types of a cause
      this.filters.errors.append(el("option", { value: state.errors }, errorPairName(types)));
      this.filters.errors.value = state.errors;
    }
    this.filters.order.value = state.order;
    this.status.replaceChildren(...this.statusText(listed, own, types));
  }

  // How many events are listed, and how many more are in clips that are not on the page.
  statusText(listed, own, types) {
    const { model, state } = this;
    const { selectedClass: k } = state;
    if (!this.events.count(this.clips[0], state.system)) return [];
    const shown = listed.reduce((total, i) => total + own[i], 0);
    const total = model.errorCount(state, types);
    const what = types ? errorPairName(types) : "errors";
    return [...(k === null ? [] : [nameOf(model.labels[k]), ": "]),
      `${what}: ${whole(shown)}${total === null || total === shown ? "" : ` of ${whole(total)}`} in ` +
        `${counted(listed.filter((i) => own[i] > 0).length, "listed clip")}` +
        (total !== null && total > shown
          ? `. The others are in clips that the page does not hold: --clips-shown ${model.page.header.clips} adds all.` : "")];
  }

  draw(clip) {
    const { model, state } = this;
    const { selectedClass } = state;
    const systems = state.linked ? model.systems.map((_, s) => s) : [state.system];
    const classes = Object.keys(clip.systems[0].ranks).map(Number);
    const shown = classes.includes(selectedClass) ? [selectedClass] : classes;
    this.width ??= printing.active ? printing.whole : Math.max(300, Math.min(980, this.view.clientWidth - 34 || 700));
    const { width } = this;
    if (this.openClip !== clip) this.open(clip);
    const x = this.timeScale();
    if (this.player) this.player.removeLines();
    const parts = shown.map((k) => el("div", { class: "part" }, el("h4", {}, ...labelWithSample(k, model.labels[k])),
      ...systems.map((s) => this.lane(clip, s, k, x, width))));
    if (parts.length) parts.at(-1).append(timeAxis(x, width, this.timeWindow));
    this.key.replaceChildren(...(model.criteria[state.criterion].rule
      ? [swatch("reference right", "found reference"), swatch("reference wrong", "missed reference"),
        swatch("detection right", "true detection"), swatch("detection wrong", "false detection"),
        ...(this.hasIgnored(clip) ? [swatch("reference ignored", "ignored reference"),
          swatch("detection ignored", "detection that matches one")] : [])]
      : [swatch("reference unknown", "reference"), swatch("detection unknown", "detection")]),
    el("span", {}, "line: score, dashed: threshold"));
    const { pointed } = this; // a lane that is replaced loses the focus
    const focused = [...this.pictures.querySelectorAll(".lane")].indexOf(document.activeElement);
    this.pictures.replaceChildren(this.spectrogram?.draw(x, width) ?? "", ...parts,
      el("p", { class: "small" }, remarks(clip, shown)));
    const lane = this.pictures.querySelectorAll(".lane")[focused];
    if (!lane) return;
    lane.focus({ preventScroll: true });
    this.pointed = pointed;
    if (pointed) this.markPointed(lane);
  }

  // Whether some references of a clip need not be found.
  hasIgnored(clip) {
    const { rule } = this.model.criteria[this.state.criterion];
    return clip.ignored.length > 0 || rule.longest !== undefined;
  }

  timeScale() {
    return linear([this.timeWindow.start, this.timeWindow.end], [LANE.side, this.width - LANE.side]);
  }

  // The time under the pointer.
  timeAt(event) {
    const box = this.pictures.getBoundingClientRect();
    return this.timeScale().invert(((event.clientX - box.left) * this.width) / box.width);
  }

  // Builds what stays while thresholds change, so that the audio plays on.
  open(clip) {
    this.openClip = clip;
    this.pointed = null;
    this.player = clip.audio.length ? new Player(clip.audio) : null;
    this.spectrogram = this.player && new SpectrogramView(clip, this.player);
    this.pictures = el("div", { class: this.player ? "pictures playable" : "pictures" });
    this.timeWindow = new TimeWindow(clip.end / 1e6);
    this.timeWindow.onChange(() => this.drawSoon());
    addZoomGestures(this.pictures, this.timeWindow, (event) => this.timeAt(event));
    const silent = this.hasAudio ? el("p", { class: "small" }, "This clip has no audio.") : "";
    this.view.replaceChildren(
      el("div", { class: "tools" }, button("SVG", () => this.save(clip), { title: "Save the picture as SVG" })),
      el("h3", {}, nameOf(clip.name), ` · ${durationText(clip)}`), this.player ? this.player.audio : silent,
      this.spectrogram?.note ?? "", this.key, zoomControls(this.timeWindow), this.pictures);
  }

  save(clip) {
    const parts = [[8, 4, clipped(`${clip.name}, ${durationText(clip)}`, 90)]];
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
    const { model, state, timeWindow } = this;
    const { ranks, edges, detections, references, ignored, types } = this.events.of(clip, s, k);
    const bottom = LANE.top + LANE.curve;
    const rows = rowsOf(detections, LANE.rows);
    const below = rows.reduce((most, row) => Math.max(most, row), 0) * (LANE.bar + 1);
    const height = bottom + 2 * (LANE.bar + LANE.gap) + below + 4;
    const y = linear([0, model.thresholds[k].length], [bottom, LANE.top]);
    const bars = (kind, events, typesOf, top, rowsOfEvents = null) =>
      eventBars(kind, { events, types: typesOf, top, height: LANE.bar, rows: rowsOfEvents }, x, timeWindow);
    const events = [
      ...bars("reference", ignored, ignored.map(() => "ignored"), bottom + LANE.gap),
      ...bars("reference", references, types && types.references, bottom + LANE.gap),
      ...bars("detection", detections, types && types.detections, bottom + 2 * LANE.gap + LANE.bar, rows),
    ];
    const thresholdY = y(state.rank(k, s) + 0.5);
    const system = model.systems.length > 1 ? `${clipped(model.systems[s])}, ` : "";
    const picture = svg("svg", { class: "lane", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
      "aria-label": `${model.labels[k]}: ${counted(references.length, "reference")}, ${counted(detections.length, "detection")}` },
    this.spectrogram?.backdrop(LANE.top, height - LANE.top),
    svg("text", { x: LANE.side, y: 11 }, `${system}threshold ${aligned(state.threshold(k, s), this.thresholdDigits)}`),
    svg("path", { class: `curve ${curveStyle(k).colour}`, d: stepPath({ ranks, edges }, x, y, timeWindow) +
      stemPath(clip.systems[s].events?.[k] ?? [], x, y, timeWindow) }),
    svg("line", { class: "limit", x1: LANE.side, x2: width - LANE.side, y1: thresholdY, y2: thresholdY }),
    ...new Set(events.map(({ bar }) => bar)), this.player ? this.player.addLine(x, height) : null);
    picture.addEventListener("click", (click) => {
      const event = events.find(({ bar }) => bar === click.target);
      if (event) this.play(event);
      else if (this.player) this.player.play(this.timeAt(click));
    });
    this.addKeys(picture, model.labels[k], events);
    return picture;
  }

  play({ onset, offset }) {
    if (this.player) this.player.play(onset / 1e6, offset / 1e6);
  }

  // Arrow keys go from event to event and describe it, and the window follows. The enter key plays it.
  addKeys(picture, label, events) {
    picture.events = { label, events };
    picture.addEventListener("blur", () => this.pointAt(picture, -1));
    picture.addEventListener("keydown", (key) => {
      const current = this.pointed ? this.pointed.i : -1;
      const event = events[current];
      if (zoomByKey(key, this.timeWindow, event && (event.onset + event.offset) / 2e6)) return;
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key.key];
      if (step && events.length) {
        key.preventDefault();
        this.pointAt(picture,
          current < 0 && step < 0 ? events.length - 1 : (current + step + events.length) % events.length);
      }
      if (key.key === "Enter" && event) this.play(event);
      if (key.key === "Escape") this.pointAt(picture, -1);
    });
  }

  // Goes to event i of a lane; -1: to none. The window follows, and then the lane is drawn again.
  pointAt(picture, i) {
    const event = picture.events.events[i];
    this.pointed = event ? { i } : null;
    if (event) this.timeWindow.reveal(event.onset / 1e6, event.offset / 1e6);
    this.markPointed(picture);
  }

  // Marks and describes the event of a lane that the user went to.
  markPointed(picture) {
    const { label, events } = picture.events;
    picture.querySelector(".current")?.classList.remove("current");
    const { bar, text } = (this.pointed && events[this.pointed.i]) ?? {};
    if (!bar) {
      hideTooltip();
      return;
    }
    bar.classList.add("current");
    const box = bar.getBoundingClientRect();
    showTooltip(box.left, box.bottom - 8, label, [text]);
  }
}

function sum(sides) {
  return sides ? sides[0] + sides[1] : 0;
}

function durationText(clip) {
  return timeText(clip.end / 1e6, clip.end / 1e6, clip.end % 1e6 ? 3 : 0);
}

// What the pictures of a clip leave out.
function remarks(clip, shown) {
  const { frames_per_column: frames } = clip.systems[0];
  return [
    clip.undrawn ? `${clip.undrawn} more ${clip.undrawn === 1 ? "class has" : "classes have"} scores above the threshold here.` : "",
    frames > 1 ? `This clip is long: each column is the maximum of ${frames} frames, so detections are not exact.` : "",
    shown.length ? "" : "No class has references or scores above its threshold here.",
  ].filter(Boolean).join(" ");
}
