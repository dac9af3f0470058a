// The relations, with how often they are used and examples.

import { getOnce } from "./api.js";
import { make, replace } from "./dom.js";
import { count, counted, factSentence, relationLink, visible } from "./words.js";

/** Show the relations, those of most facts first. */
export async function showRelations(host) {
  const { relations, count: total } = await getOnce("/v1/relations?limit=200");
  const list = make("ul", { class: "relations" }, relations.map(makeRelation));
  const filter = make("input", { type: "search", placeholder: "Filter by name", "aria-label": "Filter by name" });
  filter.addEventListener("input", () => narrow(list, relations, filter.value));
  replace(host,
    make("header", { class: "page-head" },
      make("h1", { tabindex: -1 }, "Relations"),
      make("p", { class: "lead" }, describe(relations.length, total)), filter),
    list);
  return "Relations";
}

function describe(shown, total) {
  return shown < total ? `The ${count(shown)} of ${count(total)} relations that most facts have.`
    : `All ${count(total)} relations, those of most facts first.`;
}

function makeRelation(relation) {
  const uses = [
    relation.facts > 0 && counted(relation.facts, "fact"),
    relation.qualifiers > 0 && counted(relation.qualifiers, "qualifier"),
  ].filter(Boolean);
  return make("li", {},
    make("div", {},
      make("h2", {}, relationLink(relation)),
      relation.description && make("p", { class: "muted" }, visible(relation.description)),
      make("p", { class: "small muted" }, make("span", { class: "id" }, visible(relation.id)),
        uses.length > 0 && ` · ${uses.join(", ")}`)),
    relation.examples.length > 0 && make("ul", { class: "fact-list" },
      relation.examples.map((fact) => make("li", {}, factSentence(fact)))));
}

function narrow(list, relations, text) {
  const wanted = text.trim().toLowerCase();
  relations.forEach((relation, place) => {
    const names = `${relation.label ?? ""} ${relation.id} ${relation.description ?? ""}`.toLowerCase();
    list.children[place].hidden = !names.includes(wanted);
  });
}
