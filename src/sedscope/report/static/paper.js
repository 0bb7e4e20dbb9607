// What is different while the page is printed: pictures as wide as the paper has room, nothing folded.

import { byId } from "./dom.js";

export const paper = { on: false, half: 360, whole: 720 }; // widths in pixels of the style sheet

export function addPaper() {
  const details = byId("provenance");
  let wasOpen = false;
  window.addEventListener("beforeprint", () => {
    wasOpen = details.open;
    details.open = true;
    redraw(true);
  });
  window.addEventListener("afterprint", () => {
    details.open = wasOpen;
    redraw(false);
  });
}

// Pictures listen to a change of size.
function redraw(on) {
  paper.on = on;
  window.dispatchEvent(new Event("resize"));
}
