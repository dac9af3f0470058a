// Elements: made from data by textContent alone, never from markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element; properties that begin with "on" are listeners, null and false ones are left out. */
export function make(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** An element of an SVG drawing. */
export function draw(tag, properties = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

/** Add children: nodes, texts, and lists of both; null and false are left out. */
export function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** Replace everything in an element. */
export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

/** The element with an id. */
export function find(id) {
  return document.getElementById(id);
}

/** Say something to screen readers. */
export function announce(text) {
  const live = find("live");
  live.textContent = "";
  requestAnimationFrame(() => { live.textContent = text; });
}

/** Show a short message for a moment. */
export function tell(text) {
  const note = find("toast");
  note.textContent = text;
  note.hidden = false;
  announce(text);
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => { note.hidden = true; }, 2600);
}

/** A function that runs after a pause, with the last arguments it was called with. */
export function afterPause(milliseconds, run) {
  let timer = null;
  const later = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...values), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
