// Puts the page together.

import { addAddress } from "./address.js";
import { addControls } from "./controls.js";
import { byId } from "./dom.js";
import { Model } from "./model.js";
import { addPanels } from "./panel.js";
import { addPrinting } from "./printing.js";
import { State } from "./state.js";
import { addPatterns } from "./styles.js";
import { addTheme } from "./theme.js";

const model = new Model(JSON.parse(byId("data").textContent));
const state = new State(model);
addAddress(model, state);
addTheme();
addPatterns();
addPrinting();
addControls(model, state);
addPanels(model, state);
document.body.dataset.ready = "true";
