// Zooms and moves a window in time: with buttons, keys, the wheel and by dragging.

import { button, el } from "./dom.js";
import { timeText } from "./times.js";

const [ZOOM, SHIFT] = [2, 0.25]; // of a button or key: a factor, and a share of the window
const DRAG = 4; // pixels that a pointer moves before it drags
const POSITIONS = 1000; // of the slider

// The buttons for a window.
export function zoomControls(timeWindow) {
  const { duration } = timeWindow;
  const shown = el("output", { class: "small" });
  const position = el("input", { type: "range", min: 0, max: POSITIONS, step: "any", "aria-label": "part of the clip",
    oninput: () => timeWindow.pan((Number(position.value) / POSITIONS) * hidden() - timeWindow.start) });
  const hidden = () => duration - timeWindow.length;
  const tool = (text, label, work) => button(text, work, { title: label, "aria-label": label });
  const [earlier, later, out, all] = [
    tool("◀", "earlier (shift + left arrow)", () => timeWindow.pan(-SHIFT * timeWindow.length)),
    tool("▶", "later (shift + right arrow)", () => timeWindow.pan(SHIFT * timeWindow.length)),
    tool("−", "zoom out (minus key, or control + wheel)", () => timeWindow.zoom(1 / ZOOM)),
    tool("whole clip", "show the whole clip (0 key)", () => timeWindow.showAll())];
  const refresh = () => {
    const { start, end, isWhole } = timeWindow;
    for (const control of [earlier, later, out, all, position]) control.disabled = isWhole;
    position.value = isWhole ? 0 : (start / hidden()) * POSITIONS;
    const digits = timeWindow.length < 10 ? 2 : 0;
    const text = `${timeText(start, duration, digits)} to ${timeText(end, duration, digits)}`;
    position.setAttribute("aria-valuetext", text);
    shown.replaceChildren(text);
  };
  timeWindow.onChange(refresh);
  refresh();
  return el("div", { class: "zoom screen", role: "group", "aria-label": "part of the clip" }, out,
    tool("+", "zoom in (plus key, or control + wheel)", () => timeWindow.zoom(ZOOM)), all,
  el("span", { class: "place" }, earlier, position, later), shown);
}

// Follows the wheel and the pointer over pictures. `timeAt(event)`: the time under the pointer.
export function addZoomGestures(element, timeWindow, timeAt) {
  element.addEventListener("wheel", (event) => {
    const sideways = event.deltaX || (event.shiftKey ? event.deltaY : 0);
    if (event.ctrlKey || event.metaKey) timeWindow.zoom(2 ** (-event.deltaY / 200), timeAt(event));
    else if (sideways && !timeWindow.isWhole) timeWindow.pan((sideways / element.clientWidth) * timeWindow.length);
    else return;
    event.preventDefault();
  }, { passive: false });
  let held = null; // where the pointer went down: its position, and the time under it
  let dragged = false;
  element.addEventListener("pointerdown", (event) => {
    if (event.button === 0) [held, dragged] = [{ x: event.clientX, time: timeAt(event) }, false];
  });
  element.addEventListener("pointermove", (event) => {
    if (!held || timeWindow.isWhole || (!dragged && Math.abs(event.clientX - held.x) < DRAG)) return;
    if (!dragged) element.setPointerCapture(event.pointerId);
    dragged = true;
    timeWindow.pan(held.time - timeAt(event)); // the time stays under the pointer
  });
  for (const name of ["pointerup", "pointercancel"]) element.addEventListener(name, () => (held = null));
  element.addEventListener("click", (event) => {
    if (dragged) event.stopPropagation(); // the end of a drag chooses nothing
    dragged = false;
  }, { capture: true });
}

// Obeys a key, at a time of interest if there is one. Returns whether it was one for the window.
export function zoomByKey(event, timeWindow, at) {
  const work = {
    "+": () => timeWindow.zoom(ZOOM, at), "=": () => timeWindow.zoom(ZOOM, at), "-": () => timeWindow.zoom(1 / ZOOM, at),
    0: () => timeWindow.showAll(),
  }[event.key] ?? (event.shiftKey && {
    ArrowLeft: () => timeWindow.pan(-SHIFT * timeWindow.length), ArrowRight: () => timeWindow.pan(SHIFT * timeWindow.length),
  }[event.key]);
  if (!work || event.ctrlKey || event.metaKey || event.altKey) return false;
  event.preventDefault();
  work();
  return true;
}
