// Modes side by side: the same question answered in three ways.

import { describeTotals, shareOf, writeValue } from "./answers.js";
import { make, replace } from "./dom.js";
import { bar, nameOf, visible } from "./words.js";

export const MODES = {
  hybrid: "Facts where they exist, predictions elsewhere",
  embedding: "The model alone; a score instead of a probability",
  exact: "Facts alone",
};

/** One column per mode; replies are in the order of MODES, each with answers or a problem. */
export function showComparison(host, replies, onChoose) {
  const ids = replies.map((reply) => new Set((reply.answers || []).map((one) => one.id)));
  const columns = Object.entries(MODES).map(([mode, says], place) =>
    make("section", { class: "column", "aria-label": `Mode ${mode}` },
      make("h3", {}, mode), make("p", { class: "small muted" }, says),
      replies[place].answers
        ? makeColumn(replies[place], mode, (id) => ids.every((one) => one.has(id)), onChoose)
        : make("p", { class: "empty" }, visible(replies[place].detail))));
  replace(host, make("div", { class: "columns" }, columns),
    make("p", { class: "small muted" }, "A dot marks answers that all three modes list."));
}

function makeColumn(reply, mode, isShared, onChoose) {
  const rows = reply.answers.map((answer) => {
    const value = mode === "embedding" ? answer.score : answer.probability;
    return make("li", { class: isShared(answer.id) ? "shared" : "" },
      make("button", { type: "button", class: "answer", onclick: () => onChoose(answer) },
        make("span", { class: "name" }, nameOf(answer)),
        make("span", { class: "visually-hidden" },
          `, ${answer.source}, ${isShared(answer.id) ? "listed in all modes" : ""}; show why`)),
      make("span", { class: "measure" }, bar(shareOf(answer, reply), answer.source),
        make("span", { class: "value" }, writeValue(value, mode === "embedding"))));
  });
  return [make("p", { class: "small" }, describeTotals(reply)),
    rows.length ? make("ol", { class: "answers compact" }, rows)
      : make("p", { class: "empty" }, "No answers.")];
}
