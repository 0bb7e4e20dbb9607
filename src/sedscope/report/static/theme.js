// Light or dark: as the system prefers, until the user presses the button.

import { byId } from "./dom.js";

export function addTheme() {
  const prefersDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const theme = root.dataset.theme || (prefersDark() ? "dark" : "light");
    root.dataset.theme = theme === "dark" ? "light" : "dark";
  });
}
