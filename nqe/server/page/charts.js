// Charts: bars, a curve, and the reliability diagram, drawn in the page's colours.

import { draw, make } from "./dom.js";
import { count } from "./words.js";

const WIDTH = 420;
const HEIGHT = 240;
const LEFT = 46;
const BOTTOM = 34;
const TOP = 12;
const RIGHT = 22;

/** Rows of a name, a bar and a count. */
export function bars(rows) {
  const most = Math.max(...rows.map((row) => row.count), 1);
  return make("ul", { class: "bars" }, rows.map((row) => {
    const filled = make("span", { class: "filled plain" });
    filled.style.setProperty("inline-size", `${(row.count / most) * 100}%`);
    return make("li", {}, make("span", { class: "name" }, row.name),
      make("span", { class: "bar", "aria-hidden": "true" }, filled),
      make("span", { class: "value" }, count(row.count)));
  }));
}

/** A frame with two axes; `x` and `y` give {least, most, ticks, format, title}. */
function frame({ title, x, y }) {
  const across = (value) => LEFT + ((value - x.least) / (x.most - x.least || 1)) * (WIDTH - LEFT - RIGHT);
  const up = (value) => HEIGHT - BOTTOM - ((value - y.least) / (y.most - y.least || 1)) * (HEIGHT - BOTTOM - TOP);
  const svg = draw("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title },
    y.ticks.map((value) => [
      draw("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(value), y2: up(value) }),
      draw("text", { class: "tick end", x: LEFT - 8, y: up(value) + 4 }, y.format(value))]),
    x.ticks.map((value) => draw("text", { class: "tick middle", x: across(value), y: HEIGHT - BOTTOM + 16 },
      x.format(value))),
    draw("text", { class: "axis middle", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 3 }, x.title));
  return { svg, across, up };
}

/** The learning curve: MRR on the validation split against minutes. */
export function learningCurve(points) {
  const most = Math.max(...points.map((point) => point.mrr), 0.01);
  const last = Math.max(...points.map((point) => point.minutes), 0.001);
  const best = points.reduce((one, other) => (other.mrr > one.mrr ? other : one));
  const { svg, across, up } = frame({
    title: `Learning curve: MRR up to ${best.mrr.toFixed(3)} after ${last.toFixed(1)} minutes`,
    x: { least: 0, most: ticksTo(last).at(-1), ticks: ticksTo(last), format: String, title: "minutes of training" },
    y: { least: 0, most: ticksTo(most).at(-1), ticks: ticksTo(most), format: String },
  });
  const line = points.map((point) => `${across(point.minutes)},${up(point.mrr)}`).join(" ");
  svg.append(draw("polyline", { class: "curve", points: line }));
  for (const point of points) {
    svg.append(draw("circle", { class: point === best ? "dot best" : "dot", cx: across(point.minutes),
      cy: up(point.mrr), r: point === best ? 4.5 : 2.5 },
    draw("title", {}, `step ${count(point.step)}: MRR ${point.mrr.toFixed(4)}`)));
  }
  return svg;
}

/** How often predictions of a probability are right; the diagonal would be perfect. */
export function reliabilityDiagram(bins) {
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const axis = { least: 0, most: 1, ticks, format: (value) => `${value * 100} %` };
  const { svg, across, up } = frame({
    title: `Reliability diagram with ${bins.length} groups of predictions`,
    x: { ...axis, title: "probability that was predicted" }, y: axis,
  });
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  svg.append(draw("line", { class: "diagonal", x1: across(0), y1: up(0), x2: across(1), y2: up(1) }));
  svg.append(draw("polyline", { class: "curve",
    points: bins.map((bin) => `${across(bin.probability)},${up(bin.right)}`).join(" ") }));
  for (const bin of bins) {
    svg.append(draw("circle", { class: "dot best", cx: across(bin.probability), cy: up(bin.right),
      r: 2.5 + 3 * Math.sqrt(bin.count / most) },
    draw("title", {}, `${count(bin.count)} predictions of about ${Math.round(bin.probability * 100)} %: `
      + `${Math.round(bin.right * 100)} % right`)));
  }
  return svg;
}

/** Round numbers from 0 up to at least a value, about four steps apart. */
function ticksTo(most) {
  const rough = most / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((one) => one * unit >= rough) * unit;
  const steps = Math.ceil(most / step - 1e-9);
  return Array.from({ length: steps + 1 }, (_, place) => +(place * step).toPrecision(6));
}
