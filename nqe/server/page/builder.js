// The builder: the question as statements whose slots are filled by choosing.

import { Combobox } from "./combobox.js";
import { announce, make, replace } from "./dom.js";
import {
  emptyGroup, emptyQuestion, emptyStatement, freeVariable, fromJson, isFinished, listVariables,
  toJson,
} from "./builder_model.js";

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
    this.targets = make("select", { "aria-label": "What to find", class: "variable" });
    this.targets.addEventListener("change", () => {
      this.#question.target = this.targets.value;
      this.#changed();
    });
    this.#renderTargets();
    replace(this.host,
      make("p", { class: "target" }, "Find every ", this.targets, " where"),
      this.#makeGroup(this.#question.root, null));
    this.#markUnfinished();
  }

  #renderTargets() {
    const { target } = this.#question;
    replace(this.targets, listVariables(this.#question).map((name) =>
      make("option", { value: name, selected: name === target }, `?${name}`)));
    this.targets.value = target;
  }

  #makeGroup(group, parent) {
    const parts = group.parts.flatMap((part, place) => [
      place > 0 && this.#makeJoiner(group),
      part.type === "group" ? this.#makeGroup(part, group) : this.#makeStatement(part, group),
    ]);
    const add = (part, told) => {
      group.parts.push(part);
      this.#reshaped(part, told);
    };
    const { target } = this.#question;
    const other = group.operator === "and" ? "or" : "and";
    return make("div", { class: `group ${parent ? "nested" : ""} ${group.negated ? "negated" : ""}`,
      role: "group", "aria-label": parent ? "Group of statements" : "Statements" },
    parent && make("div", { class: "group-tools" }, this.#makeNot(group),
      make("span", { class: "grow" }), this.#makeRemove(group, parent, "group")),
    parts,
    make("div", { class: "adding" },
      this.#makeButton("Add a statement", () => add(emptyStatement(target), "Statement added")),
      this.#makeButton("Add a group", () => add(emptyGroup(other, target), "Group added"))));
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
      if (!group.parts.length) group.parts.push(emptyStatement(this.#question.target));
      this.#reshaped(group.parts.at(-1), `Removed the ${what}`);
    }, `${isLast ? "Clear" : "Remove"} this ${what}`);
  }

  #makeRelation(label, holder, slot) {
    return this.#makeSlot(label, holder, slot, "relation", "relation", async (text) =>
      (await this.names("relation", text)).map(toOption));
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
    const { target } = this.#question;
    const used = listVariables(this.#question).map((name) => ({ kind: "variable", name: `?${name}`,
      description: name === target ? "what is asked for" : "the same as elsewhere",
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
      if (part.type === "statement") element.classList.toggle("unfinished", !isFinished(part));
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
  const isVariable = kind === "entity" && /^\?[\p{L}\p{N}_]+$/u.test(text);
  return isVariable ? { variable: text.slice(1) } : { name: text };
}
