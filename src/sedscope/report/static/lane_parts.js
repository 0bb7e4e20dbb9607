// The parts of a picture of a class in a clip: the line of its scores, bars of events, and the axis of time.

import { svg } from "./dom.js";
import { errorTypeName, isRight } from "./error_types.js";
import { timeText, timeTicks } from "./times.js";

const TICK_DISTANCE = 90; // at least, in pixels

// The scores as steps. Runs that are narrower than a pixel are drawn as the range of their scores.
export function stepPath({ ranks, edges }, x, y, timeWindow) {
  const [start, end] = [timeWindow.start * 1e6, timeWindow.end * 1e6];
  const px = (time) => x(Math.max(start, Math.min(time, end)) / 1e6);
  let path = "";
  let [left, low, high] = [null, Infinity, -Infinity];
  for (let i = 0; i < ranks.length && edges[i] < end; i += 1) {
    if (edges[i + 1] <= start) continue;
    if (left === null) {
      left = px(edges[i]);
      path = `M${left.toFixed(1)} ${y(ranks[i]).toFixed(1)}`;
    }
    const right = px(edges[i + 1]);
    if (right - left < 1 && i + 1 < ranks.length) {
      [low, high] = [Math.min(low, ranks[i]), Math.max(high, ranks[i])];
      continue;
    }
    if (high >= 0) path += `V${y(low).toFixed(1)}V${y(high).toFixed(1)}`;
    path += `V${y(ranks[i]).toFixed(1)}H${right.toFixed(1)}`;
    [left, low, high] = [right, Infinity, -Infinity];
  }
  return path;
}

// A line up to the score of each point in time. Events with a length are part of the other scores.
export function stemPath(events, x, y, timeWindow) {
  return events.filter(([onset, offset]) => onset === offset && timeWindow.start <= onset / 1e6 && onset / 1e6 <= timeWindow.end)
    .map(([onset, , rank]) => `M${x(onset / 1e6).toFixed(1)} ${y(0).toFixed(1)}V${y(rank).toFixed(1)}`).join("");
}

// The row of each event, in order of onset, so that events that overlap are drawn below each other. Where more than
// `most` overlap, the last row has the others.
export function rowsOf(events, most) {
  const ends = [];
  return events.map(([onset, offset]) => {
    const free = ends.findIndex((end) => end <= onset);
    const row = free >= 0 ? free : Math.min(ends.length, most - 1);
    ends[row] = Math.max(offset, ends[row] ?? offset);
    return row;
  });
}

// References or detections as bars. `rows`: that of each, unless all are in one. `types` is null if the criterion does not judge events. Events that look alike
// and share a pixel share a bar; those outside of the window have none.
export function eventBars(kind, { events, types, top, height, rows = null }, x, timeWindow) {
  const { duration } = timeWindow;
  let last = null;
  return events.map(([onset, offset], i) => {
    const verdict = types ? `, ${verdictText(kind, types[i])}` : "";
    const [from, to] = [onset / 1e6, offset / 1e6];
    const text = `${kind} ${timeText(from, duration)} to ${timeText(to, duration)}${verdict}`;
    if (to < timeWindow.start || from > timeWindow.end) return { onset, offset, text, bar: null };
    const look = types === null ? "unknown" : types[i] === "ignored" ? "ignored" : isRight(types[i]) ? "right" : "wrong";
    const [left, right] = [x(Math.max(from, timeWindow.start)), x(Math.min(to, timeWindow.end))];
    const row = rows ? rows[i] : 0;
    if (last && last.look === look && last.row === row && right < last.left + 1.5) {
      last.bar.firstChild.append(`\n${text}`);
      return { onset, offset, text, bar: last.bar };
    }
    const bar = svg("rect", { class: `${kind} ${look}`, x: left.toFixed(1), y: top + row * (height + 1),
      rx: kind === "detection" ? 3 : 0, width: Math.max(1.5, right - left), height }, svg("title", {}, text));
    last = { look, row, left, bar };
    return { onset, offset, text, bar };
  });
}

// Whether an event is right, and its error type if not.
function verdictText(kind, type) {
  if (isRight(type) || type === "missed") return errorTypeName(type);
  return `${kind === "reference" ? "missed" : "false"} (${errorTypeName(type)})`;
}

export function timeAxis(x, width, timeWindow) {
  const { start, end, duration } = timeWindow;
  const ticks = timeTicks(start, end, duration, Math.max(2, Math.floor(width / TICK_DISTANCE)));
  return svg("svg", { class: "lane time", viewBox: `0 0 ${width} 26` },
    svg("line", { class: "axis", x1: 8, x2: width - 8, y1: 1, y2: 1 }),
    ...ticks.map(([tick, text]) => {
      const at = x(tick);
      const anchor = at < 40 ? "start" : at > width - 40 ? "end" : "middle";
      return svg("g", {}, svg("line", { class: "axis", x1: at, x2: at, y1: 1, y2: 5 }),
        svg("text", { x: anchor === "start" ? Math.max(2, at - 6) : anchor === "end" ? Math.min(width - 2, at + 6) : at, y: 17,
          "text-anchor": anchor }, text));
    }));
}
