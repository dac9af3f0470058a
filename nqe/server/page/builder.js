// The builder: the question as statements and comparisons whose slots are filled by choosing.

import { Combobox } from "./combobox.js";
import { announce, make, replace } from "./dom.js";
import {
  askFurther, emptyComparison, emptyGroup, emptyQuestion, emptyStatement, freeVariable, fromJson,
  isFinished, listVariables, toggleCount, toJson,
} from "./builder_model.js";

// The signs that compare, in words; the last four order times, numbers and texts.
const OPERATORS = { "=": "is", "!=": "is not", "<": "below", "<=": "at most", ">": "above", ">=": "at least" };
const ORDERING = ["<", "<=", ">", ">="];

/** The builder in an element; `names(kind, text)` finds entities and relations. */
export class Builder {
  #question = emptyQuestion();
  #told = "null"; // the question that was told last

  constructor(host, { names, onChange }) {
    this.host = host;
    this.names = names;
    this.onChange = onChange;
    this.#render();
  }

  /** Show a query's JSON form, or an empty question; nobody is told. */
  show(json) {
    this.#question = json ? fromJson(json) : emptyQuestion();
    this.#told = JSON.stringify(toJson(this.#question));
    this.#render();
  }

  /** What was filled: tell, and show what is still missing. */
  #changed() {
    this.#markUnfinished();
    this.#renderTargets();
    const json = toJson(this.#question);
    if (JSON.stringify(json) === this.#told) return; // only something unfinished changed
    this.#told = JSON.stringify(json);
    this.onChange(json);
  }

  /** A part came or went: draw everything again, and put the focus where work goes on. */
  #reshaped(focused, told) {
    this.#render();
    this.#element(focused)?.focus();
    announce(told);
    this.#changed();
  }

  #render() {
    this.elements = new Map();
    this.targets = make("div", { class: "target", role: "group", "aria-label": "What to find" });
    this.#renderTargets();
    replace(this.host, this.targets, this.#makeGroup(this.#question.root, null));
    this.#markUnfinished();
  }

  get #first() {
    return this.#question.asked[0].name;
  }

  #renderTargets() {
    const { asked } = this.#question;
    replace(this.targets, make("span", {}, "Find every"),
      asked.map((one) => this.#makeTarget(one)),
      this.#makeButton("Add a variable", () => this.#retarget(`Also asked for ?${askFurther(this.#question)}`)),
      make("span", {}, "where"));
  }

  /** A variable that is asked for: which one, whether it is counted, and a button that drops it. */
  #makeTarget(one) {
    const { asked } = this.#question;
    const taken = asked.filter((other) => other !== one).map((other) => other.name);
    const names = listVariables(this.#question).filter((name) => !taken.includes(name));
    const place = asked.indexOf(one);
    const choice = make("select", { class: "variable", "aria-label": place ? "Also find" : "Find" },
      names.map((name) => make("option", { value: name, selected: name === one.name }, `?${name}`)));
    choice.addEventListener("change", () => {
      one.name = choice.value;
      this.#changed();
    });
    const count = make("button", { type: "button", class: "toggle", "aria-pressed": String(one.isCounted),
      title: "Only how many there are", "aria-label": `count ?${one.name}`, onclick: () => {
        toggleCount(this.#question, one);
        this.#retarget(one.isCounted ? `?${one.name} is counted` : `?${one.name} is listed`);
      } }, "count");
    const remove = asked.length > 1 && this.#makeButton("×", () => {
      this.#question.asked = asked.filter((other) => other !== one);
      this.#retarget(`?${one.name} is no longer asked for`);
    }, `Do not ask for ?${one.name}`);
    return make("span", { class: "asked" }, choice, count, remove);
  }

  /** What is asked for changed. */
  #retarget(told) {
    this.#changed();
    announce(told);
    this.targets.querySelector("select").focus();
  }

  #makeGroup(group, parent) {
    const parts = group.parts.flatMap((part, place) => [
      place > 0 && this.#makeJoiner(group),
      this.#makePart(part, group),
    ]);
    const add = (part, told) => {
      group.parts.push(part);
      this.#reshaped(part, told);
    };
    const other = group.operator === "and" ? "or" : "and";
    return make("div", { class: `group ${parent ? "nested" : ""} ${group.negated ? "negated" : ""}`,
      role: "group", "aria-label": parent ? "Group of statements" : "Statements" },
    parent && make("div", { class: "group-tools" }, this.#makeNot(group),
      make("span", { class: "grow" }), this.#makeRemove(group, parent, "group")),
    parts,
    make("div", { class: "adding" },
      this.#makeButton("Add a statement", () => add(emptyStatement(this.#first), "Statement added")),
      this.#makeButton("Add a comparison",
        () => add(emptyComparison(listVariables(this.#question).at(-1)), "Comparison added")),
      this.#makeButton("Add a group", () => add(emptyGroup(other, this.#first), "Group added"))));
  }

  #makePart(part, group) {
    if (part.type === "group") return this.#makeGroup(part, group);
    return part.type === "comparison" ? this.#makeComparison(part, group) : this.#makeStatement(part, group);
  }

  #makeJoiner(group) {
    const other = group.operator === "and" ? "or" : "and";
    const button = make("button", { type: "button", class: "joiner", title: `Change to ${other}`,
      "aria-label": `joined by ${group.operator}; change to ${other}`,
      onclick: () => {
        const number = this.#joiners().indexOf(button);
        group.operator = other;
        this.#reshaped(null, `Joined by ${other}`);
        this.#joiners()[number]?.focus();
      } }, group.operator);
    return button;
  }

  #joiners() {
    return [...this.host.querySelectorAll(".joiner")];
  }

  #makeStatement(statement, group) {
    const slots = make("div", { class: "slots" },
      this.#makeTerm("Subject", statement, "subject"),
      this.#makeRelation("Relation", statement, "relation"),
      this.#makeTerm("Object", statement, "object"));
    const element = make("div", { class: `statement ${statement.negated ? "negated" : ""}`,
      role: "group", "aria-label": "Statement" },
    slots,
    statement.qualifiers.map((qualifier) => this.#makeQualifier(qualifier, statement)),
    make("div", { class: "statement-tools" },
      this.#makeNot(statement),
      this.#makeToggle("only", statement, "only",
        "The fact may have no qualifiers but these"),
      this.#makeButton("Add a qualifier", () => {
        const qualifier = { attribute: null, value: null };
        statement.qualifiers.push(qualifier);
        this.#reshaped(qualifier, "Qualifier added");
      }),
      make("span", { class: "grow" }),
      this.#makeRemove(statement, group, "statement")));
    this.elements.set(statement, element);
    return element;
  }

  #makeComparison(comparison, group) {
    const operator = make("select", { "aria-label": "Comparison" },
      Object.entries(OPERATORS).map(([sign, words]) =>
        make("option", { value: sign, selected: sign === comparison.operator }, `${sign}  ${words}`)));
    operator.addEventListener("change", () => {
      comparison.operator = operator.value;
      this.#changed();
    });
    const element = make("div", { class: `statement comparison ${comparison.negated ? "negated" : ""}`,
      role: "group", "aria-label": "Comparison" },
    make("div", { class: "slots" },
      this.#makeSlot("Compared", comparison, "left", "entity", "?variable",
        async (text) => this.#offerVariables(text)),
      operator,
      this.#makeSlot("With", comparison, "right", "entity", "value or ?variable",
        (text) => this.#offerValues(comparison.operator, text))),
    make("div", { class: "statement-tools" }, this.#makeNot(comparison),
      make("span", { class: "grow" }), this.#makeRemove(comparison, group, "comparison")));
    this.elements.set(comparison, element);
    return element;
  }

  /** What a variable may be compared with: what was typed, names where it may be one, variables. */
  async #offerValues(operator, text) {
    const variables = this.#offerVariables(text);
    if (text.startsWith("?") || !text) return variables;
    const typed = { name: text, description: "as it is written: a time, a number or a text",
      value: { name: text } };
    if (ORDERING.includes(operator) || /^[-\d]/.test(text)) return [typed];
    return [...(await this.names("entity", text)).map(toOption), typed];
  }

  #makeQualifier(qualifier, statement) {
    const element = make("div", { class: "slots qualifier-slots" },
      make("span", { class: "with" }, "with"),
      this.#makeRelation("Attribute", qualifier, "attribute"),
      this.#makeTerm("Value", qualifier, "value"),
      this.#makeButton("×", () => {
        statement.qualifiers = statement.qualifiers.filter((one) => one !== qualifier);
        this.#reshaped(statement, "Qualifier removed");
      }, "Remove this qualifier"));
    this.elements.set(qualifier, element);
    return element;
  }

  #makeNot(part) {
    return this.#makeToggle("not", part, "negated", "What is stated here must not hold");
  }

  #makeToggle(text, part, property, title) {
    const button = make("button", { type: "button", class: `toggle ${text}`, title,
      "aria-pressed": String(part[property]), onclick: () => {
        part[property] = !part[property];
        button.setAttribute("aria-pressed", String(part[property]));
        if (property === "negated") {
          button.closest(".statement, .group").classList.toggle("negated", part.negated);
        }
        this.#changed();
      } }, text);
    return button;
  }

  #makeButton(text, onclick, label = null) {
    return make("button", { type: "button", class: "quiet", onclick, "aria-label": label,
      title: label }, text);
  }

  #makeRemove(part, group, what) {
    const isLast = group === this.#question.root && group.parts.length === 1;
    return this.#makeButton(isLast ? "Clear" : "Remove", () => {
      group.parts = group.parts.filter((one) => one !== part);
      if (!group.parts.length) group.parts.push(emptyStatement(this.#first));
      this.#reshaped(group.parts.at(-1), `Removed the ${what}`);
    }, `${isLast ? "Clear" : "Remove"} this ${what}`);
  }

  /** A slot for a relation; that of a statement may hold a variable, an attribute may not. */
  #makeRelation(label, holder, slot) {
    const kind = slot === "relation" ? "relation" : "attribute";
    return this.#makeSlot(label, holder, slot, kind, "relation", async (text) => {
      if (text.startsWith("?") && kind === "relation") return this.#offerVariables(text);
      return (await this.names("relation", text)).map(toOption);
    });
  }

  #makeTerm(label, holder, slot) {
    return this.#makeSlot(label, holder, slot, "entity", "name or ?variable", async (text) => {
      const variables = this.#offerVariables(text);
      if (text.startsWith("?") || !text) return variables;
      return [...(await this.names("entity", text)).map(toOption), ...variables];
    });
  }

  #makeSlot(label, holder, slot, kind, placeholder, search) {
    const fill = (value) => {
      holder[slot] = value;
      box.field.className = classOf(value, kind);
      this.#changed();
    };
    const box = new Combobox({ label, placeholder, kind: classOf(holder[slot], kind), search,
      text: textOf(holder[slot]), onPick: (option) => fill(option.value),
      onText: (text) => fill(readTyped(text, kind)) });
    return box.element;
  }

  #offerVariables(text) {
    const asked = this.#question.asked.map((one) => one.name);
    const used = listVariables(this.#question).map((name) => ({ kind: "variable", name: `?${name}`,
      description: asked.includes(name) ? "what is asked for" : "the same as elsewhere",
      value: { variable: name } }));
    const typed = text.replace(/^\?/, "");
    const isNew = text.startsWith("?") && /^[\p{L}\p{N}_]+$/u.test(typed);
    const name = isNew ? typed : freeVariable(this.#question);
    const fresh = { kind: "variable", name: `?${name}`, description: "something not named yet",
      value: { variable: name } };
    const fitting = text ? used.filter((one) => one.name.startsWith(text)) : used;
    const isUsed = used.some((one) => one.name === fresh.name);
    return isUsed || (text && !text.startsWith("?")) ? fitting : [...fitting, fresh];
  }

  #markUnfinished() {
    for (const [part, element] of this.elements) {
      if (part.type) element.classList.toggle("unfinished", !isFinished(part));
    }
  }

  /** The first empty field of a part, or its first button. */
  #element(part) {
    const element = this.elements.get(part?.type === "group" ? part.parts[0] : part);
    const fields = [...(element?.querySelectorAll("input") ?? [])];
    return fields.find((field) => !field.value) ?? element?.querySelector("button, input");
  }
}

const classOf = (value, kind) => (value && "variable" in value ? "variable" : kind);
const toOption = ({ id, label, description }) => ({
  name: label || id, description: description || id, value: { name: id, label },
});

function textOf(value) {
  if (!value) return "";
  return "variable" in value ? `?${value.variable}` : value.label || value.name;
}

function readTyped(text, kind) {
  if (!text) return null;
  const isVariable = kind !== "attribute" && /^\?[\p{L}\p{N}_]+$/u.test(text);
  return isVariable ? { variable: text.slice(1) } : { name: text };
}
