// Files that the user takes away.

import { el } from "./dom.js";

const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family"];

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

// A copy of the picture that carries its looks with it.
export function saveSvg(name, picture) {
  const copy = picture.cloneNode(true);
  const [originals, copies] = [picture, copy].map((one) => [one, ...one.querySelectorAll("*")]);
  originals.forEach((original, i) => {
    const looks = getComputedStyle(original);
    for (const property of PAINT) copies[i].setAttribute(property, looks.getPropertyValue(property));
    copies[i].removeAttribute("class");
    copies[i].removeAttribute("tabindex");
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  save(`${name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(copy));
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
