// The answers: a ranked list or a table, with where each comes from and how likely it is.

import { announce, make, replace } from "./dom.js";
import { entityAddress } from "./routes.js";
import { makeFigure, RowTable } from "./rows.js";
import { badge, bar, count, counted, nameOf, percent, visible } from "./words.js";

/** What tells an answer from others: its id, or all ids of its row as text. */
export const keyOf = (chosen) => (Array.isArray(chosen) ? JSON.stringify(chosen) : chosen);

/**
 * The answers in an element. `onChoose(id)` is called for one that is chosen, with the ids of a
 * row; `onSort(column)` for a column to sort by; `linkToCounted(row)` is where a count leads to.
 */
export class Answers {
  constructor(host, { onChoose, onSort, linkToCounted }) {
    this.host = host;
    this.onChoose = onChoose;
    this.onSort = onSort;
    this.linkToCounted = linkToCounted;
    this.buttons = new Map();
  }

  show(reply) {
    this.buttons = new Map();
    replace(this.host, makeTotals(reply), makeNotes(reply),
      listOf(reply).length ? this.#makeList(reply) : makeNothing(reply));
    announce(describeTotals(reply));
  }

  /** Mark the answer that is explained; null for none. */
  mark(chosen) {
    for (const [key, button] of this.buttons) {
      const isChosen = key === keyOf(chosen);
      button.closest("li, tr").classList.toggle("chosen", isChosen);
      button.setAttribute("aria-pressed", String(isChosen));
    }
  }

  #makeList(reply) {
    if (!reply.rows) {
      return make("ol", { class: reply.mode === "exact" ? "answers exact" : "answers" },
        reply.answers.map((answer, place) => this.#makeRow(answer, place, reply)));
    }
    if (!reply.targets.length) return makeFigure(reply, this.linkToCounted(reply.rows[0]));
    const table = new RowTable(reply, this);
    for (const [ids, button] of table.buttons) this.buttons.set(keyOf(ids), button);
    return table.element;
  }

  #makeRow(answer, place, reply) {
    const isScore = reply.mode === "embedding";
    const isExact = reply.mode === "exact"; // where all are certain, so that bars say nothing
    const value = isScore ? answer.score : answer.probability;
    const source = answer.source;
    const button = make("button", { type: "button", class: "answer", "aria-pressed": "false",
      onclick: () => this.onChoose(answer.id) },
    make("span", { class: "name" }, nameOf(answer)),
    make("span", { class: "visually-hidden" },
      `, ${source}, ${isScore ? "score" : "probability"} ${writeValue(value, isScore)}; show why`));
    this.buttons.set(answer.id, button);
    return make("li", {},
      make("span", { class: "rank", "aria-hidden": "true" }, place + 1),
      make("div", { class: "who" }, button,
        make("p", { class: "small" },
          answer.description && make("span", { class: "description" }, visible(answer.description)),
          make("a", { class: "id", href: entityAddress(answer.id) }, visible(answer.id),
            make("span", { class: "visually-hidden" }, `: facts about ${nameOf(answer)}`)),
          makeCautions(answer))),
      !isExact && make("div", { class: "measure", "aria-hidden": "true" },
        bar(shareOf(answer, reply), source),
        make("span", { class: "value" }, writeValue(value, isScore))),
      badge(source));
  }
}

/** How far a bar is filled: by the probability, or by the score beside the highest one. */
export function shareOf(answer, reply) {
  if (reply.mode !== "embedding") return answer.probability;
  return answer.score / Math.max(...reply.answers.map((one) => one.score), Number.MIN_VALUE);
}

/** A score is no probability, so it is not written in percent. */
export function writeValue(value, isScore) {
  return isScore ? (value ?? 0).toFixed(3) : percent(value);
}

function makeCautions(answer) {
  return [
    !answer.seen && make("span", { class: "caution" }, "new to the model"),
    answer.elsewhere && make("span", { class: "caution" }, "no fact has it in this slot"),
  ];
}

/** The answers of a reply, or its rows. */
const listOf = (reply) => reply.rows ?? reply.answers;

/** Such as “8 stated, 3 predicted above 0.5”. */
export function describeTotals(reply) {
  const stated = `${count(reply.stated_count)} stated`;
  const noun = reply.rows ? "row" : "answer";
  if (reply.rows && !reply.targets.length) return "Counted from facts";
  if (reply.mode === "exact") return `${counted(reply.stated_count, noun)}, stated by facts`;
  if (reply.likely_count === null) return `${counted(listOf(reply).length, noun)} listed`;
  return `${stated}, ${count(reply.likely_count)} predicted above ${reply.above ?? 0.5}`;
}

function makeTotals(reply) {
  const time = reply.milliseconds < 1000
    ? `${Math.max(1, Math.round(reply.milliseconds))} ms`
    : `${(reply.milliseconds / 1000).toFixed(1)} s`;
  const listed = listOf(reply).length;
  const isCut = reply.mode === "exact" && reply.stated_count > listed;
  return make("p", { class: "totals" }, make("strong", {}, describeTotals(reply)),
    make("span", { class: "muted" },
      isCut ? ` · the first ${count(listed)} are listed` : "", ` · ${time}`));
}

function makeNotes(reply) {
  const notes = [
    ...reply.notes,
    ...(reply.unless ?? []).map((one) => `Some stated answers are below 100 %, as a missing fact may say ${one}`),
    reply.unseen.length && `The model was not trained with ${reply.unseen.join(", ")}.`,
  ].filter(Boolean);
  return notes.length > 0
    && make("ul", { class: "notes" }, notes.map((note) => make("li", {}, visible(note))));
}

function makeNothing(reply) {
  const advice = reply.mode === "exact"
    ? "No facts state an answer. Facts are incomplete: a model or rules may predict one."
    : "Nothing passes the filters. Lower the probability, or show all answers.";
  return make("p", { class: "empty" }, advice);
}
