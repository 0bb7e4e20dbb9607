// The one box that tells what is pointed at.

import { byId, el, nameOf } from "./dom.js";
import { clipped } from "./format.js";

const AWAY = 14; // from the point, in pixels

export function showTip(x, y, name, lines) {
  const tip = byId("tip");
  tip.hidden = false;
  tip.replaceChildren(nameOf(clipped(name, 60)), ...lines.map((line) => el("div", {}, line)));
  const { width, height } = tip.getBoundingClientRect();
  const above = y + AWAY + height > window.innerHeight ? y - AWAY - height : y + AWAY;
  tip.style.left = `${Math.max(4, Math.min(x + AWAY, window.innerWidth - width - 10))}px`;
  tip.style.top = `${Math.max(4, above)}px`;
}

export function hideTip() {
  byId("tip").hidden = true;
}
