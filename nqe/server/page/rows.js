// Rows: answers of several targets and counts, as a table or as one figure.

import { make } from "./dom.js";
import { badge, bar, count, linkTo, nameOf, percent } from "./words.js";

export const COUNT = "count"; // the name of the column that counts

/** The columns that rows can be sorted by, for what is asked for: `?x`, …, `count`. */
export function listColumns({ targets, counted }) {
  return [...targets.map((name) => `?${name}`), ...(counted ? [COUNT] : [])];
}

/** A table with a column for each target; `buttons` has the ids of each row with what explains it. */
export class RowTable {
  buttons = new Map();

  constructor(reply, { onChoose, onSort, linkToCounted }) {
    this.reply = reply;
    this.onChoose = onChoose;
    this.onSort = onSort;
    this.linkToCounted = linkToCounted;
    this.isExact = reply.mode === "exact"; // where all is certain, so that bars say nothing
    this.hasEnd = !this.isExact || !reply.counted; // a count has no reasons
    this.element = make("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Rows" },
      make("table", { class: "rows" }, this.#makeHead(),
        make("tbody", {}, reply.rows.map((row, place) => this.#makeRow(row, place)))));
  }

  #makeHead() {
    return make("thead", {}, make("tr", {},
      make("th", { scope: "col", class: "rank" }, make("span", { class: "visually-hidden" }, "Place")),
      listColumns(this.reply).map((column) => this.#makeColumn(column)),
      !this.isExact && make("th", { scope: "col" }, "probability"),
      this.hasEnd && make("th", { scope: "col" },
        make("span", { class: "visually-hidden" }, "Source and reasons"))));
  }

  #makeColumn(column) {
    const { order } = this.reply;
    const isSorted = order === column || order === `${column} desc`;
    const direction = order === `${column} desc` ? "descending" : "ascending";
    const isVariable = column !== COUNT;
    const name = make("span", { class: isVariable ? "variable" : "" }, column);
    return make("th", { scope: "col", class: isVariable ? "" : "number",
      "aria-sort": isSorted && direction },
    !this.isExact ? name : make("button", { type: "button", class: "sort", title: `Sort by ${column}`,
      onclick: () => this.onSort(column) }, name,
    make("span", { class: "arrow", "aria-hidden": "true" }, arrowOf(isSorted, direction))));
  }

  #makeRow(row, place) {
    const source = row.known ? "stated" : "predicted";
    return make("tr", {},
      make("td", { class: "rank" }, place + 1),
      row.cells.map((cell) => make("td", {}, linkTo(cell, cell.kind))),
      row.count !== null && make("td", { class: "number" }, make("a",
        { href: this.linkToCounted(row), title: "List them" }, count(row.count))),
      !this.isExact && make("td", {}, make("div", { class: "measure" },
        bar(row.probability, source), make("span", { class: "value" }, percent(row.probability)))),
      this.hasEnd && make("td", { class: "end" }, !this.isExact && badge(source),
        row.count === null && this.#makeButton(row)));
  }

  #makeButton(row) {
    const ids = row.cells.map((cell) => cell.id);
    const button = make("button", { type: "button", class: "toggle why", "aria-pressed": "false",
      onclick: () => this.onChoose(ids) },
    "Why", make("span", { class: "visually-hidden" }, ` ${row.cells.map(nameOf).join(", ")}`));
    this.buttons.set(ids, button);
    return button;
  }
}

function arrowOf(isSorted, direction) {
  if (!isSorted) return "";
  return direction === "ascending" ? "▲" : "▼";
}

/** The number that answers “how many”, with a link to what it counts. */
export function makeFigure({ rows: [row], counted }, link) {
  return make("p", { class: "figure" }, make("strong", {}, count(row.count)), " ",
    make("a", { href: link }, "list every ", make("span", { class: "variable" }, `?${counted}`)));
}
