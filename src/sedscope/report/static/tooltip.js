// The box that describes what the user points at.

import { byId, el, nameOf } from "./dom.js";
import { clipped } from "./format.js";

const DISTANCE = 14; // from the pointer, in pixels

export function showTooltip(x, y, name, lines) {
  const box = byId("tooltip");
  box.hidden = false;
  box.replaceChildren(nameOf(clipped(name, 60)), ...lines.map((line) => el("div", {}, line)));
  const { width, height } = box.getBoundingClientRect();
  const below = y + DISTANCE + height <= window.innerHeight;
  const top = below ? y + DISTANCE : y - DISTANCE - height;
  box.style.left = `${Math.max(4, Math.min(x + DISTANCE, window.innerWidth - width - 10))}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip() {
  byId("tooltip").hidden = true;
}
