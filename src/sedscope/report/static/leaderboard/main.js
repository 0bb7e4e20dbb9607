// Puts the leaderboard together.

import { byId } from "../dom.js";
import { addPrinting } from "../printing.js";
import { addTheme } from "../theme.js";
import { ClassValues } from "./class_values.js";
import { PairMatrix } from "./pair_matrix.js";
import { RankingTable } from "./ranking_table.js";

const board = JSON.parse(byId("data").textContent);
addTheme();
addPrinting();
if (board.systems.length) {
  const parts = [["class_values", ClassValues], ["pairs", PairMatrix]]
    .filter(([id]) => byId(id)).map(([id, Part]) => new Part(byId(id), board));
  const everyone = board.systems.map((_, i) => i);
  new RankingTable(byId("ranking"), board, (bestOnly) => {
    const shown = bestOnly ? everyone.filter((i) => board.systems[i].best_of_team) : everyone;
    for (const part of parts) part.show(shown);
  });
}
document.body.dataset.ready = "true";
