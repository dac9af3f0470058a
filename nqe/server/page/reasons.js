// Reasons: why an entity is an answer, as a tree of facts and predictions in words.

import { make, replace } from "./dom.js";
import {
  badge, count, counted, entityLink, factSentence, likelihood, linkTo, nameOf, percent, ruleWords, visible,
} from "./words.js";

/** Show an explanation in an element. */
export function showExplanation(host, found) {
  const names = found.row ? found.row.cells.map((cell, place) => [place > 0 && ", ", linkTo(cell, cell.kind)])
    : entityLink(found.answer);
  const heading = make("h3", { tabindex: -1 }, "Why ", names, "?");
  replace(host, heading,
    make("p", {}, describeAnswer(found)),
    found.ways > 1 && make("p", { class: "small muted" }, `The likeliest of ${count(found.ways)} ways:`),
    make("ul", { class: "reasons" }, makeReason(found.reason, null)),
    makeCalibration(found),
    found.weakest && make("p", { class: "small" },
      "What lowers the probability most: ", make("span", { class: "says" }, visible(found.weakest))),
    makeRemoved(found.removed),
    [...found.notes, ...found.unseen.map((name) => `The model was not trained with ${name}.`)]
      .map((note) => make("p", { class: "small muted" }, visible(note))));
}

function describeAnswer({ answer, row, rank, steps }) {
  const place = `Answer ${rank}`;
  const { probability } = answer ?? row;
  const isCertain = probability >= 1;
  // Where there are no steps the answers may be sorted, so that their places are others.
  if (isCertain) return `${steps.length ? `${place}. ` : ""}Facts state everything it rests on.`;
  const how = (answer ? answer.source === "stated" : row.known)
    ? "Facts state it, unless a missing fact says otherwise."
    : "No facts state it; what is missing is predicted.";
  return `${place}, ${percent(probability)}: ${likelihood(probability)}. ${how}`;
}

/** Why the answer's probability is not that of its parts, where it is not. */
function makeCalibration({ answer, row, reason }) {
  const [parts, whole] = [reason, answer ?? row].map(({ probability }) => percent(probability));
  return parts !== whole && make("p", { class: "small" },
    `Its parts together give ${parts}. Experience with such questions makes that ${whole}.`);
}

/** One reason with those below it; `above` is the one that it is a part of. */
function makeReason(reason, above) {
  const describe = KINDS[reason.kind] ?? describeOther;
  const isNew = !above || above.variable !== reason.variable || above.id !== reason.id;
  const { line, parts = reason.because, behind = reason } = describe(reason);
  return make("li", { class: `reason ${reason.kind}` },
    make("p", {},
      isNew && above && make("span", { class: "binding" },
        make("span", { class: "variable" }, `?${reason.variable}`), " is ", linkOf(reason), ": "),
      line, describeWays(reason), makeWhole(reason, parts)),
    makeRules(behind),
    parts.length > 0 && make("ul", {}, parts.map((part) => makeReason(part, reason))));
}

const linkOf = (reason) => linkTo(reason, reason.of_relation ? "relation" : "entity");

/** What stands for each variable in an explanation, by the variable’s name. */
export function listBindings({ answer, row, reason }, { targets }) {
  const given = (row?.cells ?? [answer]).map((named, place) => [targets[place], nameOf(named)]);
  return new Map([...listBelow(reason), ...given]);
}

function listBelow(reason) {
  return [[reason.variable, nameOf(reason)], ...reason.because.flatMap(listBelow)];
}

// How each kind of reason is told: a line, and the parts that get lines of their own. A kind that
// is not listed here, such as one of a later version, is told by what it says.
const KINDS = {
  fact: ({ fact, says }) => ({
    line: [badge("stated"), " ", fact ? factSentence(fact) : says_(says)],
  }),
  prediction: ({ says, own, rules, model }) => ({
    line: [badge("predicted"), " ", says_(says), `: ${percent(own)} by ${describeSources(rules, model)}`],
  }),
  and: () => ({ line: "All of these hold" }),
  or: ({ ways }) => ({
    line: ways > 1 ? "At least one alternative holds; the likeliest is" : "One alternative holds",
  }),
  not: describeNegation,
  any: () => ({ line: "Any entity will do here", parts: [] }),
};

function describeOther({ says, own }) {
  return { line: [says_(says), ` ${percent(own)}`] };
}

function describeNegation(reason) {
  const mark = make("span", { class: "badge negated" }, "not");
  const [part] = reason.because;
  if (!part) return { line: [mark, " no fact states ", says_(reason.says)], parts: [] };
  const isLeaf = !part.because.length && (part.kind === "fact" || part.kind === "prediction");
  if (!isLeaf) return { line: [mark, " unless these hold"] };
  if (part.kind === "fact") return { line: [mark, " but a fact states ", says_(part.says)], parts: [] };
  const line = [mark, " no fact states ", says_(part.says),
    `; ${describeSources(part.rules, part.model)} would give it ${percent(part.own)}`];
  return { line, parts: [], behind: part };
}

function describeSources(rules, model) {
  if (!rules.length) return "the model";
  return model === null ? "rules" : "rules and the model";
}

/** The rules behind a prediction with the facts that fire them, and the model’s part. */
function makeRules({ rules, more_rules: more, model }) {
  if (!rules.length) return null;
  return make("ul", { class: "rules" },
    rules.map((rule) => make("li", {},
      make("p", {}, badge("rule"), " ", ruleWords(rule)),
      rule.facts.length > 0 && make("p", { class: "small" }, "Here: ",
        rule.facts.flatMap((fact, place) => [place > 0 && "; ", factSentence(fact)])))),
    more > 0 && make("li", { class: "small muted" }, `and ${counted(more, "more rule")}`),
    model !== null && make("li", { class: "small muted" }, `The model alone gives it ${percent(model)}.`));
}

const says_ = (says) => make("span", { class: "says" }, visible(says));

function describeWays({ ways, alone, probability, kind }) {
  if (ways <= 1 || kind === "or") return null;
  const together = percent(probability);
  const told = percent(alone) === together ? "" : ` (${percent(alone)} alone)`;
  return make("span", { class: "muted" }, `, the likeliest of ${ways} ways${told}`);
}

/** The probability of a reason with all that is below it, where that says more. */
function makeWhole({ probability, own, kind }, parts) {
  if (probability >= 1) return null;
  const isTold = kind === "prediction" && !parts.length && percent(own) === percent(probability);
  return !isTold && make("span", { class: "whole", title: "With everything below" },
    parts.length ? `${percent(probability)} together` : percent(probability));
}

function makeRemoved(removed) {
  const shown = removed.filter((one) => one.entities.length);
  return shown.length > 0 && make("details", { class: "removed" },
    make("summary", {}, "What “not” took away"),
    shown.map((one) => make("p", { class: "small" }, says_(one.says), ": ",
      one.entities.flatMap((entity, place) => [
        place > 0 && ", ", entityLink(entity),
        entity.probability < 1 && ` (${percent(entity.probability)})`]))));
}

/** What a screen reader is told when an explanation is shown. */
export function announceExplanation(found) {
  const names = (found.row?.cells ?? [found.answer]).map(nameOf);
  return `Why ${names.join(", ")}: ${describeAnswer(found)}`;
}
