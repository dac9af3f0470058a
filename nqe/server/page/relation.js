// The page of a relation: the rules that predict its facts, in words with their counts.

import { Channel } from "./api.js";
import { make, replace } from "./dom.js";
import { questionAddress } from "./routes.js";
import { bar, count, counted, nameOf, percent, quoteName, ruleWords, visible } from "./words.js";

const MOST = 100;
const shown = new Channel();

/** Show the relation of an address. */
export async function showRelation(host, { id }, overview) {
  const found = await shown.get(`/v1/relations/${encodeURIComponent(id)}/rules`, { top: MOST });
  const { relation, rules } = found;
  const question = `?x: ${quoteName(relation.id)}(?x, ?y)`;
  replace(host,
    make("header", { class: "page-head" },
      make("p", { class: "kicker" }, "Relation"),
      make("h1", { tabindex: -1 }, nameOf(relation)),
      relation.description && make("p", { class: "lead" }, visible(relation.description)),
      make("p", { class: "small muted" }, make("span", { class: "id" }, visible(relation.id)), " · ",
        make("a", { href: questionAddress({ q: question }) }, "ask about it"))),
    make("section", {}, make("h2", {}, "Rules that predict it"),
      make("p", { class: "small muted" }, describe(found, overview)),
      rules.length > 0 && make("ol", { class: "rule-list" }, rules.map(makeRule))));
  return nameOf(relation);
}

function describe({ rules, count: total }, overview) {
  if (!overview.rules) return "No rules are served with this graph; nqe rules mines them.";
  if (!total) return "No rule predicts its facts.";
  const listed = rules.length < total ? `The ${count(rules.length)} surest of ${count(total)} rules.`
    : `${counted(total, "rule")}, the surest first.`;
  return `${listed} ?x is given; ?y, or the name in its place, is predicted. `
    + "The bar is the share of predictions that are right, lower where there are few.";
}

function makeRule(rule) {
  return make("li", {}, make("p", {}, ruleWords(rule)),
    make("div", { class: "measure" }, bar(rule.confidence, "predicted"),
      make("span", { class: "value" }, percent(rule.confidence))));
}
