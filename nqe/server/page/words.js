// Words: how names, facts, numbers and probabilities are written.

import { append, make } from "./dom.js";
import { entityAddress, relationAddress } from "./routes.js";

const THIN = "\u202f"; // a narrow space that no line breaks at
const PERCENT = `${THIN}%`;
const numbers = new Intl.NumberFormat("en");

/** A count with separators: 11,331. */
export function count(value) {
  return numbers.format(value);
}

/** A count with its noun: 1 fact, 2 facts. */
export function counted(value, noun, nouns = `${noun}s`) {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

/** A probability in percent; only what is certain is 100 %. */
export function percent(probability) {
  if (probability === null || probability === undefined) return "–";
  if (probability >= 1) return `100${PERCENT}`;
  if (probability > 0.995) return `>${THIN}99${PERCENT}`;
  if (probability > 0 && probability < 0.005) return `<${THIN}1${PERCENT}`;
  return `${Math.round(probability * 100)}${PERCENT}`;
}

/** How likely something is, in words. */
export function likelihood(probability) {
  if (probability >= 1) return "certain by the facts";
  if (probability >= 0.9) return "very likely";
  if (probability >= 0.6) return "likely";
  if (probability >= 0.4) return "about as likely as not";
  if (probability >= 0.1) return "unlikely";
  return "very unlikely";
}

/** The label of an entity or a relation, or its id; hidden characters are shown as escapes. */
export function nameOf(named) {
  return visible(named.label || named.id);
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** A text in which characters that act on a screen are seen instead. */
export function visible(text) {
  return text.replace(HIDDEN, (one) => `\\x${one.codePointAt(0).toString(16).padStart(2, "0")}`);
}

/** A link to an entity's page. */
export function entityLink(named) {
  return make("a", { href: entityAddress(named.id), title: named.description }, nameOf(named));
}

/** A link to a relation's page. */
export function relationLink(named) {
  return make("a", { href: relationAddress(named.id), title: named.description }, nameOf(named));
}

/** A link to the page of an entity or a relation, as its kind says. */
export function linkTo(named, kind) {
  return kind === "relation" ? relationLink(named) : entityLink(named);
}

/** A fact as a sentence with links: subject, relation, object, and its qualifiers. */
export function factSentence(fact) {
  const sentence = make("span", { class: "fact" }, entityLink(fact.subject), " ");
  append(sentence, [make("span", { class: "relation" }, nameOf(fact.relation)), " "]);
  append(sentence, [entityLink(fact.object), qualifierList(fact.qualifiers)]);
  return sentence;
}

/** The qualifiers of a fact, each with its attribute. */
export function qualifierList(qualifiers) {
  if (!qualifiers.length) return null;
  const pairs = qualifiers.map(([attribute, value]) =>
    make("span", { class: "qualifier" },
      make("span", { class: "attribute" }, `${nameOf(attribute)}:`), " ", entityLink(value)));
  return make("span", { class: "qualifiers" }, pairs);
}

/** A rule in words; no line breaks inside a variable. */
export function ruleWords({ words }) {
  return visible(words).split(/(\?\w+)/).map((part) => (
    part.startsWith("?") ? make("span", { class: "variable" }, part) : part));
}

/** A badge that says where something comes from: stated or predicted. */
export function badge(source) {
  return make("span", { class: `badge ${source}` }, source);
}

/** A bar for a probability or a score from 0 to 1; its number stands beside it. */
export function bar(value, source) {
  const filled = make("span", { class: `filled ${source}` });
  filled.style.setProperty("inline-size", `${Math.max(0, Math.min(1, value ?? 0)) * 100}%`);
  return make("span", { class: "bar", "aria-hidden": "true" }, filled);
}

/** A name as it is written in a question: in quotes if it must be. */
export const quoteName = (id) => (
  /^[^\s()[\],;:"&|!?<=>][^\s()[\],;:"&|!?]*$/u.test(id) && !/^(and|or|not|only|count)$/.test(id)
    ? id : `"${id.replace(/(["\\])/g, "\\$1")}"`);
