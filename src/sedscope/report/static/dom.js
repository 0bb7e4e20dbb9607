// Elements of the page and of pictures. Texts are set as text, never parsed.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
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

// A name that comes from data: it keeps its own direction of writing.
export function nameOf(text, attributes = {}) {
  return el("bdi", { title: text, class: "name", ...attributes }, text);
}

export function button(text, onclick, attributes = {}) {
  return el("button", { type: "button", onclick, ...attributes }, text);
}

export function select(label, options, onchange, attributes = {}) {
  const chooser = el("select", { onchange: () => onchange(chooser.value), ...attributes });
  for (const [value, text] of options) chooser.append(el("option", { value }, text));
  return el("label", { class: "field" }, el("span", {}, label), chooser);
}

// Work that makes buttons anew: the one that has the focus keeps it.
export function keepingFocus(holder, work) {
  const key = (one) => one.title || one.textContent;
  const held = holder.contains(document.activeElement) ? key(document.activeElement) : null;
  work();
  if (held === null) return;
  const again = [...holder.querySelectorAll("button")].find((one) => key(one) === held);
  if (again) again.focus({ preventScroll: true });
}

// Calls a function once before the next picture, however often it is asked to.
export function soon(work) {
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

// A listener that does all the work when a key is another than before, and else only some.
export function whenChanged(key, all, some) {
  let before = key();
  return () => {
    const now = key();
    if (now === before) some();
    else all();
    before = now;
  };
}
