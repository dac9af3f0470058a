// The reasoning: the plan of a question, the entities of a step, and why an answer is one.

import { Channel, settle } from "./api.js";
import { afterPause, announce, find, make, replace } from "./dom.js";
import { matchSteps, Plan } from "./plan.js";
import { announceExplanation, listBindings, showExplanation } from "./reasons.js";
import { showStep } from "./steps.js";
import { visible } from "./words.js";

const PAUSE = 150; // milliseconds, before the plan is drawn again for another width

/** The panel; `onSelect()` is called when another answer or step is chosen. */
export class Reasoning {
  chosen = null; // the id of the answer that is explained, or the ids of a row
  step = null; // the number of the step that is shown
  #parsed = null; // the question that is drawn
  #query = null; // the question that was answered
  #reply = null; // its answers
  #explanation = null; // why the chosen answer is one
  #channel = new Channel();

  constructor(onSelect) {
    this.onSelect = onSelect;
    this.plan = new Plan(find("plan"), (number) => this.showStep(number));
    addEventListener("resize", afterPause(PAUSE, () => { if (this.#parsed) this.draw(this.#parsed); }));
  }

  /** Remember what to show once there are answers: an answer, a step, or neither. */
  select(answer, step) {
    this.chosen = answer;
    this.step = step;
    this.#explanation = null;
  }

  /** Draw the plan of a question. */
  draw(parsed) {
    this.#parsed = parsed;
    find("reasoning").hidden = false;
    this.plan.show(parsed.drawing, parsed.steps);
    this.#refresh();
  }

  /** Take the answers of a question. */
  answered(query, reply) {
    this.#query = query;
    this.#reply = reply;
    this.#refresh();
    this.showSelected();
  }

  /** Explain the chosen answer, if there is one. */
  showSelected() {
    if (this.chosen) this.explain(this.chosen);
    else this.#refresh();
  }

  /** Show the entities of a step. */
  showStep(number) {
    const step = (this.#reply?.steps ?? [])[number - 1] ?? this.#parsed?.steps[number - 1];
    if (!step) return;
    this.select(null, number);
    this.#channel.cancel();
    this.plan.light(new Map());
    this.#tellCounts();
    this.plan.mark(number);
    if (!this.#reply) {
      replace(find("detail"), make("p", { class: "hint" }, "Ask the question to see this step’s entities."));
      return;
    }
    this.onSelect();
    showStep(find("detail"), step, this.#parsed?.steps ?? this.#reply.steps, this.#reply.mode);
    announce(`Step ${number} is shown`);
    bringIntoView();
  }

  /** Show why an entity is an answer, and light its chain in the plan. */
  async explain(chosen) {
    this.select(chosen, null);
    this.plan.mark(null);
    this.onSelect();
    const detail = find("detail");
    detail.setAttribute("aria-busy", "true");
    await settle(async () => {
      const answer = Array.isArray(chosen) ? { row: chosen } : { entity: chosen };
      const found = await this.#channel.post("/v1/explain",
        { query: this.#query, ...answer, ...this.#chooseMode() });
      this.#explanation = found;
      showExplanation(detail, found);
      this.#lightChain();
      announce(announceExplanation(found));
      bringIntoView();
    }, (problem) => replace(detail, make("p", { class: "problem" }, visible(problem.detail))));
    if (this.chosen === chosen || !this.chosen) detail.removeAttribute("aria-busy");
  }

  /** The mode to explain in: that of the answers; those of trees show their steps in hybrid. */
  #chooseMode() {
    const mode = this.#reply?.mode;
    const isTree = this.#parsed?.steps.length > 0;
    return mode === "rules" || (mode === "exact" && !isTree) ? { mode } : {};
  }

  /** The question changed: what was chosen belongs to an earlier one. */
  outdate() {
    this.#channel.cancel();
    this.select(null, null);
    this.#reply = null;
    replace(find("detail"));
  }

  /** Show nothing. */
  clear() {
    this.outdate();
    this.#parsed = null;
    this.plan.clear();
    find("reasoning").hidden = true;
  }

  /** Show on the plan and below it what is known by now; replies come in any order. */
  #refresh() {
    if (!this.#reply || !this.#parsed) return;
    this.#tellCounts();
    if (this.step) this.showStep(this.step);
    else if (this.#explanation) this.#lightChain();
    else if (!this.chosen) replace(find("detail"), this.#makeHint());
  }

  #tellCounts() {
    if (this.#reply?.steps) this.plan.tellCounts(this.#reply.steps);
  }

  #lightChain() {
    const { reason, steps } = this.#explanation;
    const own = this.#parsed?.steps ?? steps;
    if (own.length) this.plan.light(matchSteps(reason, own));
    else this.plan.tellBindings(listBindings(this.#explanation, this.#parsed));
  }

  #makeHint() {
    if (!this.#parsed.steps.length) {
      const what = this.#reply.rows ? "a row’s “Why”" : "an answer";
      const { answers, rows, counted } = this.#reply;
      const canBeProved = answers?.length > 0 || (rows?.length > 0 && !counted);
      return canBeProved && make("p", { class: "hint" }, `Choose ${what} to see the facts that it rests on.`);
    }
    return make("p", { class: "hint" }, this.#reply.answers.length
      ? "Choose an answer to see why it is one, or a step of the plan to see its entities."
      : "Choose a step of the plan to see its entities.");
  }
}

/** On narrow screens the reasoning is below the answers: scroll to it. */
function bringIntoView() {
  const isBelow = find("plan").getBoundingClientRect().top > innerHeight * 0.8;
  const smooth = !matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (isBelow) find("reasoning").scrollIntoView({ behavior: smooth ? "smooth" : "auto" });
}
