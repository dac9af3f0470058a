// The view for questions: what is typed or built, its answers, and the reasoning behind them.

import { Channel, getOnce, isStale } from "./api.js";
import { Answers } from "./answers.js";
import { Builder } from "./builder.js";
import { MODES, showComparison } from "./comparison.js";
import { afterPause, announce, find, make, replace } from "./dom.js";
import { Editor } from "./editor.js";
import { Filters } from "./filters.js";
import { matchSteps, Plan } from "./plan.js";
import { findPlace, readParts } from "./query_text.js";
import { announceExplanation, showExplanation } from "./reasons.js";
import { amendAddress, pushAddress, questionAddress } from "./routes.js";
import { openSnippets } from "./snippets.js";
import { showStep } from "./steps.js";
import { counted, visible } from "./words.js";

const PAUSE = 180; // milliseconds without a key, before the text is checked
const SHOWN = 10; // entities of a step

/** The view; one for as long as the page is open. */
export class AskView {
  #parsed = null; // what the server said about the text
  #reply = null; // the answers that are shown
  #asked = null; // the address of the question that they answer
  #chosen = null; // the id of the answer that is explained
  #step = null; // the step that is shown
  #synced = null; // the text that the builder shows

  constructor(overview) {
    this.overview = overview;
    this.channels = Object.fromEntries(
      ["parse", "answer", "explain", "complete", "names", "build"].map((name) => [name, new Channel()]));
    this.editor = new Editor(find("editor"), { onChange: (text) => this.#typed(text),
      onRun: () => this.run(), complete: (before) => this.#complete(before) });
    this.builder = new Builder(find("builder"), { names: (kind, text) => this.#names(kind, text),
      onChange: (json) => this.#built(json) });
    this.filters = new Filters(Boolean(overview.model), () => { if (this.#asked) this.run(); });
    this.answers = new Answers(find("answers"), (answer) => this.#explain(answer.id));
    this.plan = new Plan(find("plan"), (step) => this.#showStep(step));
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
    this.#chosen = parameters.get("answer");
    this.#step = Number(parameters.get("step")) || null;
    if (text !== this.editor.text || !this.#parsed) {
      this.editor.text = text;
      this.parseLater.cancel();
      this.#parse();
    }
    if (!text) {
      this.#reset();
      this.builder.show(null);
      this.#synced = "";
    } else if (questionAddress({ q: text, ...this.filters.chosen }) !== this.#asked) this.#ask();
    else this.#showReasoning();
  }

  /** Ask the question that stands in the box. */
  run() {
    if (!this.editor.text.trim()) {
      this.editor.focus();
      return;
    }
    this.parseLater.cancel();
    this.#chosen = null;
    this.#step = null;
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

  #question() {
    return { query: this.editor.text.trim(), request: this.filters.toRequest(),
      name: this.overview.name, link: new URL(this.#address({ answer: this.#chosen }), location.href).href };
  }

  #introduce() {
    const { facts, entities, examples, model } = this.overview;
    find("about").textContent = `${counted(facts, "fact")} about ${counted(entities, "entity", "entities")}. `
      + (model ? "Facts are incomplete: a model predicts what is missing."
        : "Answers are what these facts state.");
    replace(find("examples"), examples.map((text) => make("li", {},
      make("a", { href: questionAddress({ q: text }) },
        readParts(text).map((part) => make("span", { class: part.kind }, part.text))))));
    find("examples-field").hidden = !examples.length;
  }

  /** Show what the page is for, or make room for answers. */
  #introduceItself(isShown) {
    find("intro").hidden = !isShown;
    find("ask-title").hidden = isShown;
    find("examples-field").open = isShown;
  }

  #typed() {
    this.#outdate();
    if (this.editor.text.trim()) this.parseLater();
    else {
      this.parseLater.cancel();
      this.#reset();
      this.builder.show(null);
      this.#synced = "";
    }
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
    await this.#guard(async () => {
      const found = await this.channels.build.post("/v1/parse", { query: json });
      if (found.text === null) this.#showProblem(found.problem);
      else {
        this.editor.text = found.text;
        this.#synced = found.text;
        await this.#parse();
      }
    });
  }

  async #parse() {
    const text = this.editor.text;
    if (!text.trim()) return;
    await this.#guard(async () => {
      const found = await this.channels.parse.post("/v1/parse", { query: text });
      if (text !== this.editor.text) return;
      this.#parsed = { ...found, of: text };
      this.#showProblem(found.problem);
      if (found.json && text !== this.#synced) {
        this.builder.show(found.json);
        this.#synced = text;
      }
      if (found.drawing) {
        find("reasoning").hidden = false;
        this.plan.show(found.drawing, found.steps);
        this.#showReasoning();
      }
    });
  }

  async #ask() {
    const address = this.#address();
    this.#asked = address;
    find("ask-link").setAttribute("href", address);
    const query = this.editor.text.trim();
    this.#introduceItself(false);
    find("answers-panel").hidden = false;
    find("answers").setAttribute("aria-busy", "true");
    if (!find("answers").hasChildNodes()) {
      replace(find("answers"), make("p", { class: "muted" }, "Answering…"));
    }
    try {
      await this.#guard(() => this.#answer(query));
    } finally {
      if (this.#asked === address) find("answers").removeAttribute("aria-busy");
    }
  }

  async #answer(query) {
    const isComparison = this.filters.isComparison;
    const modes = Object.keys(MODES);
    const request = (mode) => ({ query, ...this.filters.toRequest(mode),
      ...(mode !== "embedding" && { steps: SHOWN }) });
    const body = isComparison ? { requests: modes.map(request) }
      : request(this.filters.toRequest().mode ?? "exact");
    const found = await this.channels.answer.post("/v1/answer", body);
    this.#renew();
    find("workspace").classList.toggle("comparing", isComparison);
    if (isComparison) this.#showComparison(found.replies);
    else this.#showAnswers(found);
  }

  #showAnswers(reply) {
    this.#reply = { ...reply, above: this.filters.chosen.threshold ?? 0.5 };
    this.answers.show(this.#reply);
    this.#showReasoning();
    if (this.#chosen) this.#explain(this.#chosen);
  }

  #showComparison(replies) {
    this.#reply = replies[0].answers ? replies[0] : null;
    showComparison(find("answers"), replies, (answer) => this.#explain(answer.id));
    announce("Three modes are shown side by side");
    this.#showReasoning();
    if (this.#chosen) this.#explain(this.#chosen);
  }

  /** Write the counts of the steps, and show the step of the address. */
  #showReasoning() {
    const isCurrent = this.#reply && this.#asked === this.#address() && this.#parsed?.drawing;
    if (!isCurrent) return;
    if (this.#reply.steps.length) this.plan.tellCounts(this.#reply.steps);
    if (this.#step) this.#showStep(this.#step);
    else if (!this.#chosen) replace(find("detail"), this.#makeHint());
  }

  #makeHint() {
    return make("p", { class: "hint" }, this.#reply?.answers.length
      ? "Choose an answer to see why it is one, or a step of the plan to see its entities."
      : "Choose a step of the plan to see its entities.");
  }

  #showStep(number) {
    const step = this.#reply?.steps[number - 1] ?? this.#parsed?.steps[number - 1];
    if (!step) return;
    this.#step = number;
    this.#chosen = null;
    this.channels.explain.cancel();
    this.answers.mark(null);
    this.plan.light(new Map());
    if (this.#reply?.steps.length) this.plan.tellCounts(this.#reply.steps);
    this.plan.mark(number);
    amendAddress(this.#address({ step: number }));
    if (!this.#reply) {
      replace(find("detail"), make("p", { class: "hint" }, "Ask the question to see this step's entities."));
      return;
    }
    showStep(find("detail"), step, this.#parsed.steps, this.#reply.mode);
    announce(`Step ${number} is shown`);
    this.#bringIntoView();
  }

  async #explain(id) {
    this.#chosen = id;
    this.#step = null;
    this.answers.mark(id);
    this.plan.mark(null);
    amendAddress(this.#address({ answer: id }));
    find("detail").setAttribute("aria-busy", "true");
    await this.#guard(async () => {
      const found = await this.channels.explain.post("/v1/explain",
        { query: this.editor.text.trim(), entity: id });
      showExplanation(find("detail"), found);
      this.plan.light(matchSteps(found.reason, this.#parsed?.steps ?? found.steps));
      announce(announceExplanation(found));
      this.#bringIntoView();
    }, (problem) => replace(find("detail"), make("p", { class: "problem" }, visible(problem.detail))));
    find("detail").removeAttribute("aria-busy");
  }

  /** On narrow screens the reasoning is below the answers: scroll to it. */
  #bringIntoView() {
    const isBelow = find("plan").getBoundingClientRect().top > innerHeight * 0.8;
    const smooth = !matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isBelow) find("reasoning").scrollIntoView({ behavior: smooth ? "smooth" : "auto" });
  }

  /** The text changed, so that the answers are those of an earlier question. */
  #outdate() {
    find("answers").classList.add("outdated");
    find("answers").inert = true;
    this.#reply = null;
    this.#asked = null;
    this.#chosen = null;
    this.#step = null;
    this.channels.answer.cancel();
    this.channels.explain.cancel();
    replace(find("detail"));
  }

  #reset() {
    this.#parsed = null;
    this.#reply = null;
    this.#asked = null;
    for (const channel of ["parse", "answer", "explain"]) this.channels[channel].cancel();
    this.#showProblem(null);
    this.plan.clear();
    find("reasoning").hidden = true;
    find("answers-panel").hidden = true;
    find("workspace").classList.remove("comparing");
    this.#introduceItself(true);
    replace(find("answers"));
    replace(find("detail"));
  }

  #showProblem(problem) {
    this.editor.mark(problem);
    const place = findPlace(this.editor.text, problem);
    const isUnfinished = problem?.type === "urn:nqe:query-syntax"
      && place && place.from >= this.editor.text.trimEnd().length;
    find("problem").classList.toggle("unfinished", Boolean(isUnfinished));
    const where = place && !isUnfinished && this.editor.text.includes("\n") ? `Line ${problem.line}: ` : "";
    replace(find("problem"), problem && [
      make("span", {}, isUnfinished ? `Not finished: ${expected(problem)}` : `${where}${visible(problem.detail)}`),
      place && problem.names?.map((name) => make("button", { type: "button", class: "toggle",
        onclick: () => this.editor.replaceMarked(quoteName(name, problem.type)) }, `Use ${visible(name)}`))]);
  }

  async #complete(before) {
    let found = [];
    await this.#guard(async () => {
      found = (await this.channels.complete.get("/v1/complete", { prefix: before })).completions;
    }, () => {});
    return found;
  }

  async #names(kind, text) {
    let found = [];
    await this.#guard(async () => {
      if (text) found = (await this.channels.names.get("/v1/entities", { search: text, kind, limit: 12 })).names;
      else if (kind === "relation") found = (await getOnce("/v1/relations?limit=40")).relations;
    }, () => {});
    return found;
  }

  /** Do something that asks the server; a reply that comes too late is dropped. */
  async #guard(work, tell = (problem) => this.#refuse(problem)) {
    try {
      await work();
    } catch (error) {
      if (isStale(error)) return;
      if (!error.problem) throw error;
      tell(error.problem);
    }
  }

  #refuse(problem) {
    if (problem.line || problem.type?.startsWith("urn:nqe:query") || problem.type === "urn:nqe:unknown-name") {
      this.#showProblem(problem);
      find("answers-panel").hidden = true;
      if (!this.#parsed?.drawing) find("reasoning").hidden = true;
      return;
    }
    this.#renew();
    replace(find("answers"), make("p", { class: "problem" }, visible(problem.detail ?? problem.title)));
  }

  /** What is shown of the answers is that of the question again. */
  #renew() {
    find("answers").classList.remove("outdated");
    find("answers").inert = false;
  }
}

function expected(problem) {
  return visible(problem.detail.replace(/^.*?; /, ""));
}

/** A name that may have been meant, as it is written in a question: in quotes, if it needs them. */
function quoteName(name, type) {
  // One of several with the same label is told as “label (id), description”; its id is clear.
  const id = type === "urn:nqe:ambiguous-name" && /\(([^()]+)\)(?:,|$)/.exec(name)?.[1];
  const clear = id || name;
  return /^[^\s()[\],;:"&|!?]+$/u.test(clear) ? clear : `"${clear.replace(/(["\\])/g, "\\$1")}"`;
}
