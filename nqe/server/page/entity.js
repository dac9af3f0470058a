// The page of an entity: its facts by the slot it is in, and likely further statements.

import { Channel, isStale } from "./api.js";
import { make, replace } from "./dom.js";
import { questionAddress } from "./routes.js";
import {
  bar, counted, entityLink, factSentence, nameOf, percent, qualifierList, quoteName, relationLink, visible,
} from "./words.js";

const shown = new Channel();
const suggested = new Channel();

/** Show the entity of an address. */
export async function showEntity(host, { id }, overview) {
  const found = await shown.get(`/v1/entities/${encodeURIComponent(id)}`);
  const predicts = overview.model || overview.rules > 0;
  const suggestions = make("section", { "aria-live": "polite" });
  replace(host, makeHead(found),
    make("div", { class: "entity-columns" },
      make("div", {}, makeFacts(found)),
      predicts && suggestions));
  if (predicts) suggest(suggestions, found);
  return nameOf(found);
}

function makeHead(found) {
  return make("header", { class: "page-head" },
    make("p", { class: "kicker" }, "Entity"),
    make("h1", { tabindex: -1 }, nameOf(found)),
    found.description && make("p", { class: "lead" }, visible(found.description)),
    make("p", { class: "small muted" },
      make("span", { class: "id" }, visible(found.id)),
      ` · ${counted(found.fact_count, "fact")}`,
      found.aliases.length > 0 && ` · also called ${found.aliases.map(visible).join(", ")}`,
      !found.seen && " · new to the model"));
}

function makeFacts(found) {
  const value = (fact) => [entityLink(fact.object), qualifierList(fact.qualifiers)];
  const subject = (fact) => [entityLink(fact.subject), qualifierList(fact.qualifiers)];
  const sections = [
    makeSection("As subject", found.as_subject, value),
    makeSection("As object", found.as_object, subject),
    makeSection("As the value of a qualifier", found.as_value, factSentence),
  ].filter(Boolean);
  return sections.length ? sections : make("p", { class: "empty" }, "No fact mentions it.");
}

/** Facts of one slot, grouped by their relation. */
function makeSection(title, facts, write) {
  if (!facts.length) return null;
  const groups = new Map();
  for (const fact of facts) {
    const key = fact.relation.id;
    groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  return make("section", {}, make("h2", {}, title),
    make("dl", { class: "facts" }, [...groups.values()].map((group) => make("div", {},
      make("dt", {}, relationLink(group[0].relation)),
      make("dd", {}, make("ul", {}, group.map((fact) => make("li", {}, write(fact)))))))));
}

async function suggest(host, entity) {
  replace(host, make("h2", {}, "Likely, but not stated"),
    make("p", { class: "muted small waiting-text" }, "Looking for likely statements…"));
  try {
    const { suggestions } = await suggested.post("/v1/suggest", { entity: entity.id, top: 10 });
    replace(host, make("h2", {}, "Likely, but not stated"),
      suggestions.length ? make("ul", { class: "suggestions" }, suggestions.map((one) => makeSuggestion(one, entity)))
        : make("p", { class: "empty" }, "Nothing else is likely."));
  } catch (error) {
    if (isStale(error)) return;
    replace(host, make("h2", {}, "Likely, but not stated"), make("p", { class: "problem" }, error.message));
  }
}

function makeSuggestion(one, entity) {
  const isSubject = one.subject.id === entity.id;
  const asked = isSubject ? one.object : one.subject;
  return make("li", {},
    make("p", {}, entityLink(one.subject), " ", make("span", { class: "relation" }, nameOf(one.relation)), " ",
      entityLink(one.object)),
    make("div", { class: "measure" }, bar(one.probability, "predicted"),
      make("span", { class: "value" }, percent(one.probability)),
      make("a", { class: "small", href: questionAddress({ q: writeQuestion(one, isSubject), answer: asked.id }) },
        "Why", make("span", { class: "visually-hidden" }, ` ${nameOf(asked)}?`))));
}

/** The question that a suggestion answers. */
function writeQuestion({ subject, relation, object }, isSubject) {
  const [first, second] = isSubject ? [quoteName(subject.id), "?x"] : ["?x", quoteName(object.id)];
  return `?x: ${quoteName(relation.id)}(${first}, ${second})`;
}
