// Light or dark: as the system has it, until the button is pressed.

import { byId } from "./dom.js";

export function addTheme() {
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const now = root.dataset.theme || (dark() ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });
}
