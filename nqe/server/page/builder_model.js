// What the builder edits: groups of statements and comparisons, to and from the JSON form of queries.
//
// One of these may be unfinished: a slot is null then, and the question leaves it out.

export const emptyStatement = (variable) => ({
  type: "statement", negated: false, only: false, relation: null,
  subject: { variable }, object: null, qualifiers: [],
});

export const emptyComparison = (variable) => ({
  type: "comparison", negated: false, left: { variable }, operator: "=", right: null,
});

export const emptyGroup = (operator, variable) => ({
  type: "group", negated: false, operator, parts: [emptyStatement(variable)],
});

/** A question to begin with: what it asks for are variables, the last of which may be counted. */
export const emptyQuestion = () => ({
  asked: [{ name: "x", isCounted: false }], root: emptyGroup("and", "x"),
});

/** The builder's form of a query's JSON form. */
export function fromJson({ target, targets = [target].filter(Boolean), count, formula }) {
  const asked = targets.map((name) => ({ name, isCounted: false }));
  if (count) asked.push({ name: count, isCounted: true });
  const read = readFormula(formula);
  const isPlain = read.type === "group" && !read.negated;
  const root = isPlain ? read : { type: "group", negated: false, operator: "and", parts: [read] };
  return { asked, root };
}

function readFormula(formula) {
  if (formula.not) return negate(readFormula(formula.not));
  const operator = ["and", "or"].find((word) => word in formula);
  if (operator) {
    return { type: "group", negated: false, operator, parts: formula[operator].map(readFormula) };
  }
  if (formula.operator) {
    return { type: "comparison", negated: false, operator: formula.operator,
      left: readTerm(formula.left), right: readTerm(formula.right) };
  }
  return { type: "statement", negated: false, only: Boolean(formula.only),
    relation: readTerm(formula.relation), subject: readTerm(formula.subject),
    object: readTerm(formula.object), qualifiers: (formula.qualifiers || []).map(readQualifier) };
}

function negate(part) {
  if (!part.negated) return { ...part, negated: true };
  return { type: "group", negated: true, operator: "and", parts: [part] };
}

const readTerm = (term) => (term.variable ? { variable: term.variable } : { name: String(term) });
const readQualifier = ({ attribute, value }) => ({
  attribute: { name: attribute }, value: readTerm(value),
});

/** The JSON form of what is finished; null if nothing is. */
export function toJson({ asked, root }) {
  const formula = writePart(root);
  return formula && { ...writeAsked(asked), formula };
}

function writeAsked(asked) {
  const targets = asked.filter((one) => !one.isCounted).map((one) => one.name);
  const count = asked.find((one) => one.isCounted)?.name;
  if (!count && targets.length === 1) return { target: targets[0] };
  return { ...(targets.length && { targets }), ...(count && { count }) };
}

const WRITERS = { group: writeGroup, statement: writeStatement, comparison: writeComparison };

function writePart(part) {
  const written = WRITERS[part.type](part);
  return written && part.negated ? { not: written } : written;
}

function writeComparison(comparison) {
  const { left, operator, right } = comparison;
  return isFinished(comparison) ? { left: writeTerm(left), operator, right: writeTerm(right) } : null;
}

function writeGroup({ operator, parts }) {
  const written = parts.map(writePart).filter(Boolean);
  return written.length > 1 ? { [operator]: written } : written[0] ?? null;
}

function writeStatement(statement) {
  if (!isFinished(statement)) return null;
  const { relation, subject, object, qualifiers, only } = statement;
  const written = { relation: writeTerm(relation), subject: writeTerm(subject), object: writeTerm(object) };
  if (qualifiers.length) {
    written.qualifiers = qualifiers.map(({ attribute, value }) => ({
      attribute: attribute.name, value: writeTerm(value),
    }));
  }
  return only ? { ...written, only } : written;
}

const writeTerm = (term) => ("variable" in term ? { variable: term.variable } : term.name);

/** Whether all slots of a statement or a comparison are filled. */
export function isFinished(part) {
  return slotsOf(part).every(Boolean);
}

/** What fills the slots of a statement or of a comparison. */
function slotsOf(part) {
  if (part.type === "comparison") return [part.left, part.right];
  const pairs = part.qualifiers.flatMap(({ attribute, value }) => [attribute, value]);
  return [part.relation, part.subject, part.object, ...pairs];
}

/** All variables in use, those that are asked for first. */
export function listVariables({ asked, root }) {
  return [...new Set([...asked.map((one) => one.name), ...variablesOf(root)])];
}

function variablesOf(part) {
  if (part.type === "group") return part.parts.flatMap(variablesOf);
  return slotsOf(part).filter((term) => term && "variable" in term).map((term) => term.variable);
}

/** Ask for a further variable: the first in use that is not asked for, or a new one. */
export function askFurther(question) {
  const used = new Set(question.asked.map((one) => one.name));
  const name = listVariables(question).find((one) => !used.has(one)) ?? freeVariable(question);
  const counted = question.asked.filter((one) => one.isCounted);
  const listed = question.asked.filter((one) => !one.isCounted);
  question.asked = [...listed, { name, isCounted: false }, ...counted];
  return name;
}

/** Count a variable that is asked for, or list it again; the one that is counted stands last. */
export function toggleCount(question, chosen) {
  const isCounted = !chosen.isCounted;
  for (const one of question.asked) one.isCounted = one === chosen && isCounted;
  question.asked = [...question.asked.filter((one) => !one.isCounted),
    ...question.asked.filter((one) => one.isCounted)];
}

/** A variable that is not in use. */
export function freeVariable(question) {
  const used = new Set(listVariables(question));
  return [..."yzuvwabcdefghijklmnopqrst"].find((letter) => !used.has(letter)) ?? `v${used.size}`;
}
