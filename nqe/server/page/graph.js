// The graph at a glance: counts, how many entities facts have, and what is most connected.

import { bars } from "./charts.js";
import { make, replace } from "./dom.js";
import { count, entityLink, nameOf } from "./words.js";

/** Show what the graph holds. */
export async function showGraph(host, _, overview) {
  const { facts, entities, relations, with_qualifiers: qualified } = overview;
  const share = facts ? Math.round((qualified / facts) * 100) : 0;
  replace(host,
    make("header", { class: "page-head" },
      make("h1", { tabindex: -1 }, overview.name),
      make("p", { class: "lead" }, "The graph at a glance.")),
    make("dl", { class: "figures" }, [
      ["facts", count(facts)], ["entities", count(entities)], ["relations", count(relations)],
      ["of facts have qualifiers", `${share} %`],
    ].map(([name, value]) => make("div", {}, make("dd", {}, value), make("dt", {}, name)))),
    make("div", { class: "two-columns" },
      make("section", {}, make("h2", {}, "Entities per fact"),
        make("p", { class: "small muted" }, "Subject and object, and one for each qualifier."),
        bars(Object.entries(overview.arities).map(([arity, many]) => ({ name: `${arity} entities`, count: many }))),
        makeSplits(overview.splits)),
      make("section", {}, make("h2", {}, "Most connected"),
        make("p", { class: "small muted" }, "How often facts mention each of these."),
        bars(overview.most_connected.map((one) => ({ name: entityLink(one), count: one.count, title: nameOf(one) }))))));
  return "Graph";
}

function makeSplits(splits) {
  const rows = Object.entries(splits).map(([name, many]) => ({ name, count: many }));
  return rows.length > 1 && [make("h2", {}, "Splits"),
    make("p", { class: "small muted" }, "Training, validation and test facts are kept apart."), bars(rows)];
}
