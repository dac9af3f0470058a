// What the builder edits: groups of statements, to and from the JSON form of queries.
//
// A statement may be unfinished: a slot is null then, and the question leaves it out.

export const emptyStatement = (variable) => ({
  type: "statement", negated: false, only: false, relation: null,
  subject: { variable }, object: null, qualifiers: [],
});

export const emptyGroup = (operator, variable) => ({
  type: "group", negated: false, operator, parts: [emptyStatement(variable)],
});

/** A question to begin with. */
export const emptyQuestion = () => ({ target: "x", root: emptyGroup("and", "x") });

/** The builder's form of a query's JSON form. */
export function fromJson({ target, formula }) {
  const read = readFormula(formula);
  const isPlain = read.type === "group" && !read.negated;
  const root = isPlain ? read : { type: "group", negated: false, operator: "and", parts: [read] };
  return { target, root };
}

function readFormula(formula) {
  if (formula.not) return negate(readFormula(formula.not));
  const operator = ["and", "or"].find((word) => word in formula);
  if (operator) {
    return { type: "group", negated: false, operator, parts: formula[operator].map(readFormula) };
  }
  return { type: "statement", negated: false, only: Boolean(formula.only),
    relation: { name: formula.relation }, subject: readTerm(formula.subject),
    object: readTerm(formula.object), qualifiers: (formula.qualifiers || []).map(readQualifier) };
}

function negate(part) {
  if (!part.negated) return { ...part, negated: true };
  return { type: "group", negated: true, operator: "and", parts: [part] };
}

const readTerm = (term) => (typeof term === "string" ? { name: term } : { variable: term.variable });
const readQualifier = ({ attribute, value }) => ({
  attribute: { name: attribute }, value: readTerm(value),
});

/** The JSON form of what is finished; null if nothing is. */
export function toJson({ target, root }) {
  const formula = writePart(root);
  return formula && { target, formula };
}

function writePart(part) {
  const written = part.type === "group" ? writeGroup(part) : writeStatement(part);
  return written && part.negated ? { not: written } : written;
}

function writeGroup({ operator, parts }) {
  const written = parts.map(writePart).filter(Boolean);
  return written.length > 1 ? { [operator]: written } : written[0] ?? null;
}

function writeStatement(statement) {
  if (!isFinished(statement)) return null;
  const { relation, subject, object, qualifiers, only } = statement;
  const written = { relation: relation.name, subject: writeTerm(subject), object: writeTerm(object) };
  if (qualifiers.length) {
    written.qualifiers = qualifiers.map(({ attribute, value }) => ({
      attribute: attribute.name, value: writeTerm(value),
    }));
  }
  return only ? { ...written, only } : written;
}

const writeTerm = (term) => ("variable" in term ? { variable: term.variable } : term.name);

/** Whether all slots of a statement are filled. */
export function isFinished({ relation, subject, object, qualifiers }) {
  const pairs = qualifiers.flatMap(({ attribute, value }) => [attribute, value]);
  return [relation, subject, object, ...pairs].every(Boolean);
}

/** All variables in use, the target first. */
export function listVariables({ target, root }) {
  return [...new Set([target, ...variablesOf(root)])];
}

function variablesOf(part) {
  if (part.type === "group") return part.parts.flatMap(variablesOf);
  const terms = [part.subject, part.object, ...part.qualifiers.map(({ value }) => value)];
  return terms.filter((term) => term && "variable" in term).map((term) => term.variable);
}

/** A variable that is not in use. */
export function freeVariable(question) {
  const used = new Set(listVariables(question));
  return [..."yzuvwabcdefghijklmnopqrst"].find((letter) => !used.has(letter)) ?? `v${used.size}`;
}
