// Elements of the page and of pictures. Text is set as text and never parsed.

const SVG = "http://www.w3.org/2000/svg";

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
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
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
