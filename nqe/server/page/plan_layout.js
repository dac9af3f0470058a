// Where the nodes and arrows of a plan are drawn: from left to right, or downwards if that is narrow.

import { draw } from "./dom.js";

export const HEIGHT = 30;
export const RADIUS = 21;
export const ROUND = new Set(["and", "or", "not", "any", "target"]);
const STRETCH = 1.34; // rows further apart than the server places them, for the text below nodes
const ROW = 46; // from one row to the next, as the server places them
const TOP = 27;
const LEFT = 8;
const GAP = 14;
const LEVEL = 84; // from one level of an upright drawing to the next
const SMALLEST = 0.8; // the least scale at which texts can be read

/** The places of nodes by their ids, and the scale; upright, if they would be too wide otherwise. */
export function placeNodes(nodes, room) {
  const across = lieDown(nodes);
  const scale = room ? Math.min(1, room / widthOf(across)) : 1;
  const isUpright = scale < SMALLEST;
  const chosen = isUpright ? standUp(nodes) : across;
  return {
    places: new Map(chosen.map((node) => [node.id, node])),
    scale: isUpright ? Math.max(SMALLEST, Math.min(1, room / widthOf(chosen))) : scale,
    isUpright,
  };
}

/** How wide a drawing is, with the margin on its right. */
export function widthOf(nodes) {
  return Math.max(...nodes.map((node) => node.x + node.width / 2)) + LEFT;
}

function lieDown(nodes) {
  const first = Math.min(...nodes.map((node) => node.y));
  return nodes.map((node) => ({ ...node, y: (node.y - first) * STRETCH + TOP }));
}

/** Levels become rows, and rows columns that are as wide as the widest node in or beside them. */
function standUp(nodes) {
  const levels = [...new Set(nodes.map((node) => node.x))].sort((one, other) => one - other);
  const first = Math.min(...nodes.map((node) => node.y));
  const columnOf = (node) => (node.y - first) / ROW;
  const last = Math.round(Math.max(...nodes.map(columnOf)));
  const centres = [];
  let x = LEFT;
  for (let column = 0; column <= last; column += 1) {
    const beside = nodes.filter((node) => Math.abs(columnOf(node) - column) < 0.5);
    const width = Math.max(RADIUS * 2, ...beside.map((node) => node.width)) + GAP;
    centres.push(x + width / 2);
    x += width;
  }
  const between = (place) => {
    const [low, high] = [Math.floor(place), Math.ceil(place)];
    return centres[low] + (centres[high] - centres[low]) * (place - low);
  };
  return nodes.map((node) => ({ ...node, x: between(columnOf(node)), y: TOP + levels.indexOf(node.x) * LEVEL }));
}

/**
 * An arrow, with the name of the slot that it fills; `share` is how far along it that stands.
 */
export function drawEdge(edge, source, target, isUpright, share = 0.5) {
  const line = isUpright ? drawDown(source, target) : drawAcross(source, target);
  const [straight, bent] = [bend(0.5, share), bend(0, share)];
  const between = (start, end, part) => start + (end - start) * part;
  const x = isUpright ? between(source.x, target.x, bent)
    : between(source.x + source.width / 2, target.x - target.width / 2, straight);
  const y = isUpright ? between(source.y, target.y, straight) + 9 : between(source.y, target.y, bent) - 5;
  return draw("g", { class: "edge" }, draw("path", { d: line, "marker-end": "url(#arrow)" }),
    edge.text && draw("text", { x, y }, edge.text));
}

/** How far a curve has come in one direction, if its handles reach so far from its ends. */
function bend(handle, share) {
  const rest = 1 - share;
  return 3 * rest * rest * share * handle + 3 * rest * share * share * (1 - handle) + share ** 3;
}

/**
 * How far along each arrow its text stands: in the middle, but where arrows that part or meet would
 * put several texts in one place, nearer to the other end.
 */
export function spreadTexts(edges) {
  const count = (end, id) => edges.filter((edge) => edge[end] === id).length;
  return edges.map(({ source, target }) => {
    if (count("source", source) > 1) return 0.7;
    return count("target", target) > 1 ? 0.3 : 0.5;
  });
}

function drawAcross(source, target) {
  const [start, end] = [source.x + source.width / 2, target.x - target.width / 2 - 2];
  const bend = (end - start) / 2;
  return `M${start} ${source.y} C${start + bend} ${source.y} ${end - bend} ${target.y} ${end} ${target.y}`;
}

function drawDown(source, target) {
  const [start, end] = [source.y + halfHeight(source), target.y - halfHeight(target) - 2];
  const bend = (end - start) / 2;
  return `M${source.x} ${start} C${source.x} ${start + bend} ${target.x} ${end - bend} ${target.x} ${end}`;
}

function halfHeight(node) {
  return ROUND.has(node.kind) ? RADIUS : HEIGHT / 2;
}
