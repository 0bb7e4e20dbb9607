// Elements of the page and of pictures. Text is set as text and never parsed.

const SVG = "http://www.w3.org/2000/svg";
const TEXTS = ["title", "aria-label", "aria-valuetext"]; // attributes that are read by people

// The characters of `escaping.py`, which cannot be seen, or reverse the text around them.
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{DI}\ufff9-\ufffb\u{13430}-\u{1345f}]/gu;
const NAMED = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

// A text in which these characters are written as Python does it, such as \\x1b or \\u202e.
export function printable(text) {
  return String(text).replace(HIDDEN, escapedCharacter);
}

// The same, in one line.
export function oneLine(text) {
  return printable(text).replace(/[\t\n]/g, escapedCharacter);
}

function escapedCharacter(character) {
  const code = character.codePointAt(0);
  const [mark, digits] = code < 0x100 ? ["x", 2] : code < 0x10000 ? ["u", 4] : ["U", 8];
  return NAMED[character] ?? `\\${mark}${code.toString(16).padStart(digits, "0")}`;
}

export function el(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fillElement(document.createElementNS(SVG, tag), attributes, children);
}

function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, TEXTS.includes(name) ? printable(value) : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined)
    .map((child) => (child instanceof Node ? child : printable(child))));
  return element;
}

export function byId(id) {
  return document.getElementById(id);
}

// A name that comes from data; it keeps its own writing direction.
export function nameOf(text, attributes = {}) {
  return el("bdi", { title: text, class: "name", ...attributes }, text);
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

export function select(label, options, onchange, attributes = {}) {
  const field = el("select", { onchange: () => onchange(field.value), ...attributes });
  for (const [value, text] of options) field.append(el("option", { value }, text));
  return el("label", { class: "field" }, el("span", {}, label), field);
}

// Runs `rebuild`, which replaces the buttons in a container, and keeps the focus on the same button.
export function keepingFocus(container, rebuild) {
  const key = (element) => element.title || element.textContent;
  const focused = container.contains(document.activeElement) ? key(document.activeElement) : null;
  rebuild();
  if (focused === null) return;
  const successor = [...container.querySelectorAll("button")].find((element) => key(element) === focused);
  if (successor) successor.focus({ preventScroll: true });
}

// A function that runs `work` once before the next frame, however often it is called.
export function beforeNextFrame(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}

// A listener that runs `redraw` if the key has changed since the last call, and `update` otherwise.
export function whenChanged(key, redraw, update) {
  let before = key();
  return () => {
    const now = key();
    if (now === before) update();
    else redraw();
    before = now;
  };
}
