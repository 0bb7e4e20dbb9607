// Puts the page together.

import { ClipBrowser } from "./clips.js";
import { addControls } from "./controls.js";
import { addCurves } from "./curves.js";
import { byId } from "./dom.js";
import { addErrors } from "./errors.js";
import { addPatterns } from "./looks.js";
import { addMatrix } from "./matrix.js";
import { Model } from "./model.js";
import { addPaper } from "./paper.js";
import { addRocs } from "./rocs.js";
import { State } from "./state.js";
import { addSystems } from "./systems.js";
import { ClassTable } from "./table.js";
import { addTheme } from "./theme.js";

const model = new Model(JSON.parse(byId("data").textContent));
const state = new State(model);
addTheme();
addPatterns();
addPaper();
addControls(model, state);
addSystems(model);
const table = new ClassTable(model, state);
addRocs(model, state);
addCurves(model, state);
const browser = new ClipBrowser(model, state);
addMatrix(model, state, browser);
addErrors(model, state);
document.body.dataset.ready = String(table.rows.length);
