// The model's card: what it is, how it was trained, and how reliable it is.

import { learningCurve, reliabilityDiagram } from "./charts.js";
import { make, replace } from "./dom.js";
import { renderMarkdown } from "./markdown.js";
import { count, counted, percent, visible } from "./words.js";

/** Show what is known about the model. */
export async function showModel(host, _, { model, name, rules }) {
  const head = make("header", { class: "page-head" },
    make("h1", { tabindex: -1 }, "Model"),
    make("p", { class: "lead" }, model
      ? "Predicts what facts leave out, with a probability for each prediction."
      : describeNone(name, rules)));
  replace(host, head, model && makeModel(model, rules));
  return "Model";
}

function describeNone(name, rules) {
  return rules > 0
    ? `No model is served with ${name}: ${counted(rules, "rule")} predict what its facts leave out.`
    : `No model is served with ${name}: answers are what its facts state. Serve a run to get predictions.`;
}

function makeModel(model, rules) {
  return [
    make("dl", { class: "figures" }, [
      ["parameters", count(model.parameters)], ["kind", model.kind],
      ["trained on", model.trained_on ?? "unknown"],
      ...(rules > 0 ? [["rules beside it", count(rules)]] : []),
      ["probabilities", model.calibrated ? "calibrated" : "not calibrated"],
    ].map(([name, value]) => make("div", {}, make("dd", {}, visible(String(value))), make("dt", {}, name)))),
    make("div", { class: "two-columns" }, makeCurve(model.curve), makeReliability(model.reliability)),
    makeSettings(model.settings),
    model.card && make("details", { class: "card" }, make("summary", {}, "The model’s card"),
      renderMarkdown(model.card)),
  ];
}

function makeCurve(curve) {
  return make("section", {}, make("h2", {}, "Learning curve"),
    curve.length ? [
      make("p", { class: "small muted" }, "Mean reciprocal rank on validation queries: 1 if every answer is ranked first."),
      learningCurve(curve)]
      : make("p", { class: "empty" }, "The run’s folder holds no validations."));
}

function makeReliability(reliability) {
  const measured = reliability?.after;
  const bins = measured?.bins ?? [];
  return make("section", {}, make("h2", {}, "Reliability"),
    bins.length ? [
      make("p", { class: "small muted" },
        `How often predictions are right. On the dashed line, those of 70 % are right in 70 % of cases; `
        + `here they are off by ${percent(measured.error)} on average.`),
      reliabilityDiagram(bins)]
      : make("p", { class: "empty" }, "Not measured; nqe calibrate does."));
}

function makeSettings(settings) {
  const rows = flatten(settings);
  return rows.length > 0 && make("details", { class: "card", open: true },
    make("summary", {}, "Settings"),
    make("dl", { class: "settings" }, rows.map(([name, value]) =>
      make("div", {}, make("dt", {}, visible(name)), make("dd", {}, visible(value))))));
}

/** Settings as pairs of a path and a text. */
function flatten(settings, path = []) {
  return Object.entries(settings ?? {}).flatMap(([name, value]) =>
    (value && typeof value === "object" && !Array.isArray(value)
      ? flatten(value, [...path, name])
      : [[[...path, name].join(" › ").replaceAll("_", " "), Array.isArray(value) ? value.join(", ") : String(value ?? "none")]]));
}
