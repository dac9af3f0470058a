// The view for questions: what is typed or built, and its answers.

import { Channel, settle } from "./api.js";
import { Answers, keyOf } from "./answers.js";
import { Builder } from "./builder.js";
import { MODES, showComparison } from "./comparison.js";
import { afterPause, announce, find, make, replace } from "./dom.js";
import { Editor } from "./editor.js";
import { Filters } from "./filters.js";
import { completeText, searchNames } from "./names.js";
import { findPlace, readParts } from "./query_text.js";
import { Reasoning } from "./reasoning.js";
import { amendAddress, pushAddress, questionAddress } from "./routes.js";
import { openSnippets } from "./snippets.js";
import { counted, quoteName, visible } from "./words.js";

const PAUSE = 180; // milliseconds without a key, before the text is checked
const SHOWN = 10; // entities of a step

/** The view; one for as long as the page is open. */
export class AskView {
  #parsed = null; // what the server said about the text
  #reply = null; // the answers that are shown
  #asked = null; // the address of the question that they answer
  #synced = ""; // the text that the builder shows
  #parsing = null; // ends when the server has said what the text means

  constructor(overview) {
    this.overview = overview;
    this.channels = { parse: new Channel(), build: new Channel(), answer: new Channel() };
    this.editor = new Editor(find("editor"), { onChange: () => this.#typed(),
      onRun: () => this.run(), complete: completeText });
    this.builder = new Builder(find("builder"), { names: searchNames,
      onChange: (json) => this.#built(json) });
    this.filters = new Filters(overview, () => { if (this.#asked) this.run(); });
    this.answers = new Answers(find("answers"), { onChoose: (chosen) => this.reasoning.explain(chosen),
      onSort: (column) => this.filters.sortBy(column), linkToCounted: (row) => this.#linkToCounted(row) });
    this.reasoning = new Reasoning(() => this.#selected());
    this.parseLater = afterPause(PAUSE, () => this.#parse());
    this.#introduce();
    find("run").addEventListener("click", () => this.run());
    find("use").addEventListener("click", () => openSnippets(this.#question(), this.#reply));
    addEventListener("keydown", (event) => this.#press(event));
  }

  /** Show the question of an address, and ask it if it is another one. */
  open(parameters) {
    const text = parameters.get("q") ?? "";
    this.filters.chosen = parameters;
    if (text !== this.editor.text) this.reasoning.outdate();
    if (text !== this.editor.text || !this.#parsed) {
      this.editor.text = text;
      this.parseLater.cancel();
      this.#parse();
    }
    if (!text) {
      this.#reset();
      this.#clearBuilder();
      return;
    }
    this.reasoning.select(readChosen(parameters), Number(parameters.get("step")) || null);
    if (this.#address() === this.#asked) this.reasoning.showSelected();
    else this.#ask();
  }

  /** Ask the question that stands in the box. */
  run() {
    if (!this.editor.text.trim()) {
      this.editor.focus();
      return;
    }
    this.parseLater.cancel();
    this.reasoning.select(null, null);
    pushAddress(this.#address());
    document.title = `${this.editor.text.trim()} · nqe`;
    this.#parse();
    this.#ask();
  }

  #press(event) {
    const isRun = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (isRun && !event.defaultPrevented && find("ask").contains(document.activeElement)) {
      event.preventDefault();
      document.activeElement.blur(); // so that a field of the builder takes what was typed
      this.run();
    }
  }

  #address(extra = {}) {
    return questionAddress({ q: this.editor.text.trim(), ...this.filters.chosen, ...extra });
  }

  /** An answer or a step was chosen, which the address remembers. */
  #selected() {
    const { chosen, step } = this.reasoning;
    this.answers.mark(chosen);
    amendAddress(this.#address({ ...writeChosen(chosen), step }));
  }

  #question() {
    const link = new URL(this.#address(writeChosen(this.reasoning.chosen)), location.href).href;
    return { query: this.editor.text.trim(), request: this.filters.toRequest(),
      name: this.overview.name, link, hasRows: Boolean(this.#reply?.rows) };
  }

  /** The address of the question what is counted in a row: the counted variable instead of its count. */
  #linkToCounted({ cells }) {
    const { text, targets, counted: name } = this.#parsed;
    const formula = text.slice(text.indexOf(": ") + 2);
    const same = cells.map(({ id }, place) => ` and ?${targets[place]} = ${quoteName(id)}`);
    return questionAddress({ q: `?${name}: ${same.length ? `(${formula})` : formula}${same.join("")}` });
  }

  #introduce() {
    const { facts, entities, examples, model, rules } = this.overview;
    find("about").textContent = `${counted(facts, "fact")} about ${counted(entities, "entity", "entities")}. `
      + (model || rules ? `Facts are incomplete: ${model ? "a model predicts" : "rules predict"} what is missing.`
        : "Answers are what these facts state.");
    replace(find("examples"), examples.map((text) => make("li", {},
      make("a", { href: questionAddress({ q: text }) },
        readParts(text).map((part) => make("span", { class: part.kind }, part.text))))));
    find("examples-field").hidden = !examples.length;
  }

  /** Show what the page is for, or make room for answers. */
  #showIntroduction(isShown) {
    find("intro").hidden = !isShown;
    find("ask-title").hidden = isShown;
    find("examples-field").open = isShown;
  }

  #typed() {
    this.#outdate();
    if (this.editor.text.trim()) {
      this.parseLater();
      return;
    }
    this.parseLater.cancel();
    this.#reset();
    this.#clearBuilder();
  }

  #clearBuilder() {
    this.builder.show(null);
    this.#synced = "";
  }

  /** The builder changed: write its question into the box. */
  async #built(json) {
    this.#outdate();
    if (!json) {
      this.channels.build.cancel();
      this.editor.text = "";
      this.#reset();
      return;
    }
    await settle(async () => {
      const found = await this.channels.build.post("/v1/parse", { query: json });
      if (found.text === null) {
        this.#showProblem(found.problem);
        return;
      }
      this.editor.text = found.text;
      this.#synced = found.text;
      await this.#parse();
    }, (problem) => this.#refuse(problem));
  }

  #parse() {
    this.#parsing = this.#parseText();
    return this.#parsing;
  }

  async #parseText() {
    const text = this.editor.text;
    if (!text.trim()) return;
    await settle(async () => {
      const found = await this.channels.parse.post("/v1/parse", { query: text });
      if (text === this.editor.text) this.#understood(found, text);
    }, (problem) => this.#refuse(problem));
  }

  #understood(found, text) {
    this.#parsed = found;
    this.#showProblem(found.problem);
    this.filters.fit(found);
    if (found.json && text !== this.#synced) {
      this.builder.show(found.json);
      this.#synced = text;
    }
    if (found.drawing) this.reasoning.draw(found);
  }

  async #ask() {
    const address = this.#address();
    const answers = find("answers");
    this.#asked = address;
    find("ask-link").setAttribute("href", address);
    this.#showIntroduction(false);
    find("answers-panel").hidden = false;
    answers.setAttribute("aria-busy", "true");
    if (!answers.hasChildNodes()) replace(answers, make("p", { class: "muted" }, "Answering…"));
    await this.#parsing; // which says what modes can answer it, and whether it has steps
    if (this.#asked !== address) return;
    await settle(() => this.#answer(this.editor.text.trim()), (problem) => this.#refuse(problem));
    if (this.#asked === address) answers.removeAttribute("aria-busy");
  }

  async #answer(query) {
    const isComparison = this.filters.isComparison;
    const hasSteps = this.#parsed?.steps.length > 0;
    const request = (mode) => ({ query, ...this.filters.toRequest(mode),
      ...(hasSteps && mode !== "embedding" && { steps: SHOWN }) });
    const body = isComparison ? { requests: Object.keys(MODES).map(request) }
      : request(this.filters.toRequest().mode ?? "exact");
    const found = await this.channels.answer.post("/v1/answer", body);
    this.#renew();
    find("workspace").classList.toggle("comparing", isComparison);
    const reply = isComparison ? this.#showComparison(found.replies) : this.#showAnswers(found);
    this.#reply = reply;
    if (reply) this.reasoning.answered(query, reply);
  }

  #showAnswers(found) {
    const { threshold, order } = this.filters.chosen;
    const reply = { ...found, above: threshold ?? 0.5, order };
    this.answers.show(reply);
    return reply;
  }

  #showComparison(replies) {
    showComparison(find("answers"), replies, (answer) => this.reasoning.explain(answer.id));
    announce("Three modes are shown side by side");
    return replies[0].answers ? replies[0] : null;
  }

  /** The text changed, so that the answers are those of an earlier question. */
  #outdate() {
    find("answers").classList.add("outdated");
    find("answers").inert = true;
    this.#reply = null;
    this.#asked = null;
    this.channels.answer.cancel();
    this.reasoning.outdate();
  }

  /** What is shown of the answers is that of the question again. */
  #renew() {
    find("answers").classList.remove("outdated");
    find("answers").inert = false;
  }

  #reset() {
    this.#parsed = null;
    this.#reply = null;
    this.#asked = null;
    for (const channel of ["parse", "answer"]) this.channels[channel].cancel();
    this.#showProblem(null);
    this.reasoning.clear();
    find("answers-panel").hidden = true;
    find("workspace").classList.remove("comparing");
    this.#showIntroduction(true);
    replace(find("answers"));
  }

  #showProblem(problem) {
    this.editor.mark(problem);
    const place = findPlace(this.editor.text, problem);
    const isUnfinished = problem?.type === "urn:nqe:query-syntax"
      && place && place.from >= this.editor.text.trimEnd().length;
    find("problem").classList.toggle("unfinished", Boolean(isUnfinished));
    const where = place && this.editor.text.includes("\n") ? `Line ${problem.line}: ` : "";
    replace(find("problem"), problem && [
      make("span", {}, isUnfinished ? `Not finished: ${expected(problem)}` : `${where}${visible(problem.detail)}`),
      place && problem.names?.map((name) => make("button", { type: "button", class: "toggle",
        onclick: () => this.editor.replaceMarked(writeName(name, problem.type)) }, `Use ${visible(name)}`))]);
  }

  /** Show a problem below the text if it is one of the question, and in place of answers if not. */
  #refuse(problem) {
    if (QUESTION_PROBLEMS.has(problem.type) || find("answers-panel").hidden) {
      this.#showProblem(problem);
      find("answers-panel").hidden = true;
      return;
    }
    this.#renew();
    replace(find("answers"), make("p", { class: "problem" }, visible(problem.detail ?? problem.title)));
  }
}

/** The chosen answer of an address: an id, or the ids of a row; null for none. */
function readChosen(parameters) {
  try {
    const row = JSON.parse(parameters.get("row"));
    return Array.isArray(row) ? row.map(String) : parameters.get("answer");
  } catch {
    return null; // as a row that was cut off
  }
}

/** The chosen answer as parameters of an address. */
function writeChosen(chosen) {
  return Array.isArray(chosen) ? { row: keyOf(chosen) } : { answer: chosen };
}

const QUESTION_PROBLEMS = new Set(["query-syntax", "query", "name", "unknown-name", "ambiguous-name"]
  .map((kind) => `urn:nqe:${kind}`));

function expected(problem) {
  return visible(problem.detail.replace(/^.*?; /, ""));
}

/** A name that may have been meant, as it is written in a question: in quotes, if it needs them. */
function writeName(name, type) {
  // One of several with the same label is told as “label (id), description”; its id is clear.
  const id = type === "urn:nqe:ambiguous-name" && /\(([^()]+)\)(?:,|$)/.exec(name)?.[1];
  const clear = id || name;
  return quoteName(clear);
}
