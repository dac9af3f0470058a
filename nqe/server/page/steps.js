// One step of the plan: what it says, and the entities in its set.

import { make, replace } from "./dom.js";
import { bar, count, entityLink, percent, visible } from "./words.js";

/** Show a step in an element; `mode` is that of the answers. */
export function showStep(host, step, steps, mode) {
  replace(host,
    make("h3", { tabindex: -1 }, `Step ${step.step} of ${steps.length}`),
    make("p", {}, describeStep(step)),
    mode === "embedding" ? make("p", { class: "empty" },
      "In the mode embedding a step is a vector, so it lists nothing. Choose another mode.")
      : [make("p", { class: "small muted" }, describeCount(step, mode)), makeList(step)]);
}

function describeStep({ operator, says, variable, inputs }) {
  const ofWhich = inputs.map((one) => `step ${one}`);
  const name = make("span", { class: "variable" }, `?${variable}`);
  const told = {
    P: () => [name, " such that ", make("span", { class: "says" }, visible(says))],
    And: () => [name, ` in ${listed(ofWhich, "and")}`],
    Or: () => [name, ` in ${listed(ofWhich, "or")}`],
    Not: () => [name, ` not in ${listed(ofWhich, "and")}`],
    Any: () => [name, " may be any entity"],
  };
  return (told[operator] ?? told.P)();
}

function listed(words, last) {
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}` : words.join("");
}

function describeCount(step, mode) {
  const many = step.count === 1 ? "entity" : "entities";
  const shown = step.entities.length < step.count ? `; the first ${step.entities.length}:` : ":";
  if (mode !== "hybrid" && mode !== "rules") return `${count(step.count)} ${many}${step.count ? shown : ""}`;
  return `${count(step.count)} ${many} with more than 50 %; the likeliest:`;
}

function makeList(step) {
  return make("ol", { class: "answers compact" }, step.entities.map((one) =>
    make("li", {}, make("span", { class: "name" }, entityLink(one)),
      make("span", { class: "measure" }, bar(one.probability, one.source),
        make("span", { class: "value" }, percent(one.probability),
          make("span", { class: "visually-hidden" }, `, ${one.source}`))))));
}
