// The panels of the page. Each module in panels/ registers a function that fills the section of its panel.

import { button, byId } from "./dom.js";

const registered = new Map();

// `fill({ section, data, model, state })` is called once if the page has the panel of this name.
export function registerPanel(name, fill) {
  registered.set(name, fill);
}

export function addPanels(model, state) {
  for (const { name, data } of model.page.panels)
    registered.get(name)({ section: byId(name), data, model, state });
}

export function goToPanel(name) {
  byId(name).scrollIntoView();
}

// Says that the chosen criterion has nothing to show in a panel, and offers the first one that has.
export function suggestCriterion(model, state, reason, fits) {
  const other = model.criteria.findIndex(fits);
  return [`${model.criteria[state.criterion].definition} ${reason}. `,
    button(`Choose ${model.criteria[other].definition}`, () => state.set({ criterion: other }))];
}
