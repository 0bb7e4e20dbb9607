// The address of the page holds the view: class, system, criterion, clip, what the list of clips shows, and the sliders that
// were moved. So the view can be shared and loaded again.

import { errorPairTypes } from "./error_types.js";

export function addAddress(model, state) {
  const clips = model.page.panels.find(({ name }) => name === "clips")?.data.clips ?? [];
  const names = { class: [model.labels, "selectedClass"], system: [model.systems, "system"],
    criterion: [model.criteria.map(({ definition }) => definition), "criterion"], clip: [clips.map(({ name }) => name), "clip"] };
  const texts = ["errors", "order"];
  const start = { ...state, positions: state.positions.map((classes) => [...classes]) };

  // Names and positions that this page does not have are passed over.
  function read() {
    const view = new URLSearchParams(location.hash.slice(1));
    const changes = Object.fromEntries(texts.map((key) => [key, view.get(key) ?? start[key]]));
    if (!["", "any"].includes(changes.errors) && !errorPairTypes(changes.errors)) changes.errors = "";
    if (!["errors", "name", "difference"].includes(changes.order)) changes.order = start.order;
    for (const [key, [all, field]] of Object.entries(names)) {
      const number = all.indexOf(view.get(key));
      changes[field] = number < 0 ? start[field] : number;
    }
    const positions = start.positions.map((classes) => [...classes]);
    for (const moved of view.get("sliders")?.split("_") ?? []) {
      const [s, k, position] = moved.split(".").map(Number);
      if (positions[s]?.[k] !== undefined && model.thresholds[k][position] !== undefined) positions[s][k] = position;
    }
    state.set({ ...changes, positions });
  }

  function write() {
    const view = new URLSearchParams();
    for (const [key, [all, field]] of Object.entries(names)) {
      if (state[field] !== start[field]) view.set(key, all[state[field]] ?? "");
    }
    for (const key of texts) if (state[key] !== start[key]) view.set(key, state[key]);
    const sliders = state.positions.flatMap((classes, s) => classes.flatMap((position, k) =>
      (position === start.positions[s][k] ? [] : `${s}.${k}.${position}`)));
    if (sliders.length) view.set("sliders", sliders.join("_"));
    const isView = location.hash === "" || location.hash.includes("=");
    if (location.protocol === "about:" || (isView && location.hash === (view.size ? `#${view}` : ""))) return;
    if (isView || view.size) history.replaceState(null, "", `${location.href.split("#")[0]}${view.size ? `#${view}` : ""}`);
  }

  if (location.hash.includes("=")) read();
  window.addEventListener("hashchange", () => (location.hash.includes("=") ? read() : write())); // or a link to a panel
  let waiting = null; // browsers limit how often the address may change
  state.listen(() => {
    clearTimeout(waiting);
    waiting = setTimeout(write, 200);
  });
}
