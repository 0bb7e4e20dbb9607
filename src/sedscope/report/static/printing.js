// While the page is printed, pictures are as wide as the paper allows and all details are open.

import { byId } from "./dom.js";

export const printing = { active: false, half: 360, whole: 720 }; // widths of pictures in CSS pixels

export function addPrinting() {
  const details = byId("provenance");
  let wasOpen = false;
  window.addEventListener("beforeprint", () => {
    wasOpen = details.open;
    details.open = true;
    redrawPictures(true);
  });
  window.addEventListener("afterprint", () => {
    details.open = wasOpen;
    redrawPictures(false);
  });
}

// Pictures are drawn again when the window is resized.
function redrawPictures(active) {
  printing.active = active;
  window.dispatchEvent(new Event("resize"));
}
