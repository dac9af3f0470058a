// The plan: how the question is answered step by step, drawn from anchors to the target. Of a
// question that is no tree, its variables and the conditions between them.

import { draw, replace } from "./dom.js";
import { count, nameOf } from "./words.js";
import { drawEdge, HEIGHT, placeNodes, RADIUS, ROUND, spreadTexts, widthOf } from "./plan_layout.js";

const MARGIN = 22;
const VARIABLES = new Set(["asked", "variable"]);
const ROUNDED = new Set(["anchor", ...VARIABLES]);
const LONGEST = 18;
const SIDES = 26; // room for the names below variables, which may be wider than these

/** The drawing of a plan in an element; `onStep(number)` is called for a step that is chosen. */
export class Plan {
  #drawing = null;
  #nodes = new Map();
  #edges = [];
  #captions = new Map();

  constructor(host, onStep) {
    this.host = host;
    this.onStep = onStep;
  }

  show(drawing, steps) {
    this.#drawing = drawing;
    this.#nodes = new Map();
    this.#captions = new Map();
    this.last = steps.length;
    this.sides = steps.length ? 0 : SIDES;
    const room = this.host.clientWidth - 2 * this.sides;
    const { places, scale, isUpright } = placeNodes(drawing.nodes, room);
    const shares = steps.length ? [] : spreadTexts(drawing.edges); // the edges of a tree never part
    this.#edges = drawing.edges.map((edge, place) => ({ ...edge, element: drawEdge(edge,
      places.get(edge.source), places.get(edge.target), isUpright, shares[place]) }));
    const nodes = drawing.nodes.map((node) => this.#drawNode(places.get(node.id), steps));
    replace(this.host, this.#frame([...places.values()], nodes, scale));
  }

  clear() {
    this.#drawing = null;
    replace(this.host);
  }

  /** Write how many entities each step has. */
  tellCounts(steps) {
    for (const step of steps) this.#caption(step.step, count(step.count), step);
  }

  /** Write below each variable what stands for it in one answer, by the variable’s name. */
  tellBindings(names) {
    for (const [variable, name] of names) this.#caption(`?${variable}`, shorten(name));
  }

  /** Light the chain of an answer: a reason for each step that it rests on. */
  light(reasons) {
    this.host.classList.toggle("lit", reasons.size > 0);
    const lit = new Set();
    for (const { id, step } of this.#drawing?.nodes ?? []) {
      if (step !== null && reasons.has(step)) lit.add(id);
    }
    for (const { source, target } of this.#edges) {
      const isTarget = target === "target" && reasons.size > 0;
      if (isTarget) lit.add(target);
      const isAnchor = this.#nodes.get(source)?.classList.contains("anchor");
      if (isAnchor && lit.has(target)) lit.add(source);
    }
    for (const [id, element] of this.#nodes) {
      element.classList.toggle("on", lit.has(id));
      const kind = reasons.get(Number(element.dataset.step))?.kind;
      const isStep = !element.classList.contains("target");
      element.classList.toggle("stated", isStep && kind === "fact");
      element.classList.toggle("predicted", isStep && kind === "prediction");
    }
    for (const { source, target, element } of this.#edges) {
      element.classList.toggle("on", lit.has(source) && lit.has(target));
    }
    for (const [number, reason] of reasons) {
      const isNamed = ["fact", "prediction", "rule", "any"].includes(reason.kind);
      if (isNamed) this.#caption(number, shorten(nameOf(reason)));
    }
  }

  /** Mark the step whose entities are shown; null for none. */
  mark(step) {
    for (const element of this.#nodes.values()) {
      const isShown = step !== null && element.dataset.step === String(step);
      element.classList.toggle("shown", isShown);
      if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", String(isShown));
    }
  }

  #caption(number, text, step = null) {
    const caption = this.#captions.get(number);
    if (!caption) return;
    caption.textContent = text;
    if (step) {
      const element = caption.parentNode;
      const says = element.dataset.says;
      element.setAttribute("aria-label", `${says}: ${count(step.count)} entities; show them`);
    }
  }

  #frame(places, nodes, scale) {
    const width = widthOf(places) + 2 * this.sides;
    const height = Math.max(...places.map((one) => one.y)) + RADIUS + MARGIN;
    return draw("svg", { viewBox: `${-this.sides} 0 ${width} ${height}`, width: width * scale,
      height: height * scale, role: "group", "aria-label": "Plan of the question" },
    draw("defs", {}, draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4,
      markerWidth: 7, markerHeight: 7, orient: "auto" },
    draw("path", { d: "M0 0.6 L7 4 L0 7.4 z", class: "arrow" }))),
    this.#edges.map((edge) => edge.element), nodes);
  }

  #drawNode(node, steps) {
    const number = node.kind === "target" ? this.last : node.step;
    const step = number === null ? null : steps[number - 1];
    const says = step && (node.kind === "target" ? `Result ${node.text}` : `Step ${number}, ${step.says}`);
    const choose = () => this.onStep(number);
    const element = draw("g", { class: `node ${node.kind}`, "data-step": number, "data-says": says,
      ...(step && { tabindex: 0, role: "button", "aria-pressed": "false",
        "aria-label": `${says}; show its entities`, onclick: choose,
        onkeydown: (event) => {
          if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(); }
        } }) },
    outline(node, "ring"), outline(node, "shape"),
    draw("text", { x: node.x, y: node.y + 4.5, class: "label" }, node.text));
    if (step && node.kind !== "target") this.#addCaption(number, node, element);
    if (VARIABLES.has(node.kind)) this.#addCaption(node.text.replace("count ", ""), node, element);
    this.#nodes.set(node.id, element);
    return element;
  }

  /** A place for a text below a node; it is found by the number of a step, or by a variable. */
  #addCaption(key, node, element) {
    const below = node.y + (ROUND.has(node.kind) ? RADIUS : HEIGHT / 2) + 13;
    const caption = draw("text", { x: node.x, y: below, class: "caption" });
    element.append(caption);
    this.#captions.set(key, caption);
  }
}

function outline(node, name) {
  const around = name === "ring" ? 4 : 0;
  if (ROUND.has(node.kind)) {
    return draw("circle", { class: name, cx: node.x, cy: node.y, r: RADIUS + around });
  }
  const half = HEIGHT / 2 + around;
  return draw("rect", { class: name, x: node.x - node.width / 2 - around, y: node.y - half,
    width: node.width + 2 * around, height: 2 * half,
    rx: ROUNDED.has(node.kind) ? half : 5 + around });
}

function shorten(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

const OPERATORS = { fact: "P", prediction: "P", rule: "P", and: "And", or: "Or", not: "Not", any: "Any" };

/** The reason for each step that an explanation rests on, by the step's number. */
export function matchSteps(reason, steps) {
  return matchStep(reason, steps.length, steps) ?? new Map();
}

function matchStep(reason, number, steps) {
  const step = steps[number - 1];
  if (!step || step.operator !== OPERATORS[reason.kind]) return null;
  const found = new Map([[number, reason]]);
  const free = new Set(step.inputs);
  for (const part of reason.because) {
    const fitting = [...free].filter((one) => steps[one - 1].operator === OPERATORS[part.kind]);
    const chosen = fitting.find((one) => fits(part, steps[one - 1])) ?? fitting[0];
    if (chosen === undefined) continue;
    free.delete(chosen);
    for (const [one, below] of matchStep(part, chosen, steps) ?? []) found.set(one, below);
  }
  return found;
}

/** Whether the statement of a reason can be that of a step, with names in place of variables. */
function fits(reason, step) {
  if (step.operator !== "P") return step.variable === reason.variable;
  const parts = step.says.split(/\?[\p{L}\p{N}_]+/u).map((one) => one.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "su").test(reason.says);
}
