// Files that the user saves from the page.

import { byId, el, oneLine, svg } from "./dom.js";
import { fixed } from "./format.js";

// What XML 1.0 forbids: most control characters, halves of surrogate pairs, and U+FFFE and U+FFFF.
const NOT_XML = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;
const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "filter", "paint-order",
  "font-size", "font-family", "font-weight"];

export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// How a cell begins that spreadsheets may execute, and numbers, which may begin like that.
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)$/i;

// An apostrophe precedes cells that a spreadsheet could execute.
function csvText(rows) {
  const cell = (value) => {
    const text = FORMULA.test(value) && !NUMBER.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

// A table for the package booktabs. Numbers have three decimals; `best`: whether the cell of a row in a column is
// the best of several and goes in bold.
function latexText(rows, best) {
  const symbols = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "−": "$-$", "…": "\\ldots{}", "–": "--", "≈": "$\\approx$", "≤": "$\\leq$", "±": "$\\pm$", "|": "\\textbar{}", "∞": "$\\infty$", "<": "$<$", ">": "$>$",
    "\u2009": "\\," };
  const decimals = rows[0].map((_, j) =>
    rows.some((row) => typeof row[j] === "number" && !Number.isInteger(row[j])) ? 3 : 0);
  const plain = (value, j) => (typeof value === "number" ? fixed(value, decimals[j]).replace("-", "−") : oneLine(value));
  const cell = (value, j, row) => {
    const text = plain(value, j)
      .replace(/[\\~^−–≈≤±∞<>|…\u2009&%$#_{}]/g, (symbol) => symbols[symbol] || `\\${symbol}`);
    return best(row, j) ? `\\textbf{${text}}` : text;
  };
  // at the beginning of a line, [ and * would belong to the end of the line before
  const lines = rows.map((row) => `${row.map(cell).join(" & ")} \\\\`.replace(/^(?=[[*])/, "{}"));
  const columns = `l${"r".repeat(rows[0].length - 1)}`;
  return [`\\begin{tabular}{${columns}}`, "\\toprule", lines[0], "\\midrule", ...lines.slice(1), "\\bottomrule",
    "\\end{tabular}", ""].join("\n");
}

export function saveCsv(name, rows) {
  save(`${name}.csv`, "text/csv", csvText(rows));
}

export function saveLatex(name, rows, best = () => false) {
  save(`${name}.tex`, "text/x-tex", latexText(rows, best));
}

// Saves a picture that is on the page. The file holds its styles, patterns and background.
export function saveSvg(name, picture, width, height) {
  const background = svg("rect", { class: "sheet", width, height });
  picture.prepend(background);
  const copy = styledCopy(picture);
  background.remove();
  const patterns = new Set(copy.outerHTML.match(/(?<=url\(&quot;#)[\w-]+/g));
  copy.prepend(svg("defs", {}, ...[...patterns].map((id) => styledCopy(byId(id)))));
  const size = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height };
  for (const [attribute, value] of Object.entries(size)) copy.setAttribute(attribute, value);
  const text = new XMLSerializer().serializeToString(copy).replace(NOT_XML, "\ufffd");
  save(`${name}.svg`, "image/svg+xml", text);
}

// Saves several pictures and texts in one file: [x, y, text] or [x, y, picture, width, height].
export function saveCollage(name, parts, width, height) {
  const collage = svg("svg", { class: "collage", width, height }, ...parts.map(([x, y, content, w, h]) => {
    if (typeof content === "string") return svg("text", { class: "entry", x, y: y + 12 }, content);
    const picture = content.cloneNode(true);
    for (const [attribute, value] of Object.entries({ x, y, width: w, height: h }))
      picture.setAttribute(attribute, value);
    return picture;
  }));
  document.body.append(collage);
  saveSvg(name, collage, width, height);
  collage.remove();
}

// The parts of a collage that explain the swatches of a key, and the height at which they end.
export function keyParts(key, top, columns) {
  const entries = [...key.children].filter((entry) => entry.querySelector("svg"));
  const parts = entries.flatMap((entry, i) => {
    const [x, y] = [8 + 175 * (i % columns), top + 18 * Math.floor(i / columns)];
    return [[x, y + 1, entry.querySelector("svg"), 24, 12], [x + 30, y - 1, entry.textContent.trim()]];
  });
  return [parts, top + 18 * Math.ceil(entries.length / columns) + 4];
}

// A copy with the computed styles as attributes.
function styledCopy(picture) {
  const copy = picture.cloneNode(true);
  const [originals, copies] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const style = getComputedStyle(original);
    for (const property of PAINT) copies[i].setAttribute(property, style.getPropertyValue(property));
    for (const attribute of ["class", "tabindex", "role"]) copies[i].removeAttribute(attribute);
    if (original.matches(".hover, .playhead")) copies[i].remove();
  });
  return copy;
}

// The chosen thresholds in the format of `sedscope detect --points`.
export function operatingPointsText(thresholds, provenance, postprocessing) {
  const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")
    .replace(/[\u0000-\u001f\u007f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
  const number = (value) => {
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    const text = String(value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  };
  const table = (name, entries) => (entries.length
    ? [`[${name}]`, ...entries.map(([key, text]) => `${quoted(key)} = ${quoted(text)}`), ""] : []);
  return [
    "[thresholds]", ...thresholds.map(([label, value]) => `${quoted(label)} = ${number(value)}`), "",
    ...table("provenance", provenance), ...table("postprocessing", postprocessing),
  ].join("\n");
}
