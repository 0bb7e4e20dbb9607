// Files that the user takes away.

import { byId, el, svg } from "./dom.js";

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "paint-order",
  "font-size", "font-family", "font-weight"];

export function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export function csvText(rows) {
  const cell = (value) => {
    const text = String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

export function latexText(rows) {
  const marks = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "−": "$-$", "–": "--", "≈": "$\\approx$", "∞": "$\\infty$", "<": "$<$", ">": "$>$",
    "\u2009": "\\," };
  const cell = (value) => String(value)
    .replace(/[\\~^−–≈∞<>\u2009&%$#_{}]/g, (mark) => marks[mark] || `\\${mark}`);
  const lines = rows.map((row) => `${row.map(cell).join(" & ")} \\\\`);
  const columns = `l${"r".repeat(rows[0].length - 1)}`;
  return [`\\begin{tabular}{${columns}}`, "\\hline", lines[0], "\\hline", ...lines.slice(1), "\\hline",
    "\\end{tabular}", ""].join("\n");
}

export function saveCsv(name, rows) {
  save(`${name}.csv`, "text/csv", csvText(rows));
}

export function saveLatex(name, rows) {
  save(`${name}.tex`, "text/x-tex", latexText(rows));
}

// A copy of a picture that is on the page; the copy carries its looks with it.
export function saveSvg(name, picture, width, height) {
  const ground = svg("rect", { class: "sheet", width, height });
  picture.prepend(ground);
  const copy = painted(picture);
  ground.remove();
  const used = new Set(copy.outerHTML.match(/(?<=url\(&quot;#)[\w-]+/g));
  copy.prepend(svg("defs", {}, ...[...used].map((id) => painted(byId(id)))));
  const size = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height };
  for (const [attribute, value] of Object.entries(size)) copy.setAttribute(attribute, value);
  save(`${name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
}

// Several pictures and texts in one file: [x, y, text], or [x, y, picture, width, height].
export function savePieces(name, pieces, width, height) {
  const whole = svg("svg", { class: "pieces", width, height }, ...pieces.map(([x, y, what, w, h]) => {
    if (typeof what === "string") return svg("text", { class: "entry", x, y: y + 12 }, what);
    const piece = what.cloneNode(true);
    for (const [attribute, value] of Object.entries({ x, y, width: w, height: h }))
      piece.setAttribute(attribute, value);
    return piece;
  }));
  document.body.append(whole);
  saveSvg(name, whole, width, height);
  whole.remove();
}

// What swatches mean, for a file, in so many columns; and where it ends.
export function keyPieces(key, top, columns) {
  const entries = [...key.children].filter((one) => one.querySelector("svg"));
  const pieces = entries.flatMap((entry, i) => {
    const [x, y] = [8 + 175 * (i % columns), top + 18 * Math.floor(i / columns)];
    return [[x, y + 1, entry.querySelector("svg"), 24, 12], [x + 30, y - 1, entry.textContent.trim()]];
  });
  return [pieces, top + 18 * Math.ceil(entries.length / columns) + 4];
}

function painted(picture) {
  const copy = picture.cloneNode(true);
  const [originals, copies] = [picture, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const looks = getComputedStyle(original);
    for (const property of PAINT) copies[i].setAttribute(property, looks.getPropertyValue(property));
    for (const attribute of ["class", "tabindex", "role"]) copies[i].removeAttribute(attribute);
    if (original.matches(".hover, .playhead")) copies[i].remove();
  });
  return copy;
}

// The chosen thresholds as `sedscope detect --points` takes them.
export function pointsText(thresholds, provenance) {
  const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")
    .replace(/[\u0000-\u001f\u007f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
  const number = (value) => {
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    const text = String(value);
    return /[.e]/.test(text) ? text : `${text}.0`;
  };
  return [
    "[thresholds]", ...thresholds.map(([label, value]) => `${quoted(label)} = ${number(value)}`), "",
    "[provenance]", ...provenance.map(([name, text]) => `${quoted(name)} = ${quoted(text)}`), "",
  ].join("\n");
}
