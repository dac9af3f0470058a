// The choices above the answers: mode, which ones, from which probability, how many.

import { find } from "./dom.js";
import { percent } from "./words.js";

const DEFAULTS = { show: "all", top: 25 };
const LARGEST = 1000;
const PROBABLE = ["hybrid", "rules"]; // the modes whose answers have probabilities of their own

/** The filters; `onChange` is called when one of them is changed. */
export class Filters {
  constructor({ model, rules }, onChange) {
    this.predicts = Boolean(model) || rules > 0;
    this.usual = model ? "hybrid" : this.predicts ? "rules" : "exact";
    this.mode = find("mode");
    const lacking = [...(model ? [] : ["hybrid", "embedding", "compare"]), ...(rules > 0 ? [] : ["rules"])];
    for (const option of [...this.mode.options]) if (lacking.includes(option.value)) option.remove();
    this.threshold = find("threshold");
    this.top = find("top");
    this.shows = [...document.querySelectorAll("input[name=show]")];
    this.mode.value = this.usual;
    for (const control of [this.mode, this.top, ...this.shows]) {
      control.addEventListener("change", () => { this.#fit(); onChange(); });
    }
    this.threshold.addEventListener("input", () => this.#fit());
    this.threshold.addEventListener("change", onChange);
    this.#fit();
  }

  /** What is chosen, in the words of the page's address; defaults are null. */
  get chosen() {
    const mode = this.mode.value === this.usual ? null : this.mode.value;
    const show = this.shows.find((one) => one.checked)?.value;
    return {
      mode,
      show: show === DEFAULTS.show ? null : show,
      threshold: Number(this.threshold.value) || null,
      top: Number(this.top.value) === DEFAULTS.top ? null : Number(this.top.value),
    };
  }

  /** Choose what an address says; what it does not say is the default. */
  set chosen(parameters) {
    const mode = parameters.get("mode");
    const known = [...this.mode.options].map((option) => option.value);
    this.mode.value = known.includes(mode) ? mode : this.usual;
    const show = parameters.get("show") || DEFAULTS.show;
    for (const one of this.shows) one.checked = one.value === show;
    if (!this.shows.some((one) => one.checked)) this.shows[0].checked = true;
    this.threshold.value = Number(parameters.get("threshold")) || 0;
    this.#setTop(Number(parameters.get("top")) || DEFAULTS.top);
    this.#fit();
  }

  /** The fields of a request, for one mode. */
  toRequest(mode = this.#effectiveMode) {
    const { show, threshold, top } = this.chosen;
    return {
      ...(this.predicts && { mode }),
      top: top ?? DEFAULTS.top,
      ...(threshold && PROBABLE.includes(mode) && { threshold }),
      ...(show === "stated" && mode !== "exact" && { stated_only: true }),
      ...(show === "predicted" && mode !== "exact" && { predicted_only: true }),
    };
  }

  get isComparison() {
    return this.mode.value === "compare";
  }

  get #effectiveMode() {
    return this.isComparison ? "hybrid" : this.mode.value;
  }

  #setTop(top) {
    const known = [...this.top.options].map((option) => Number(option.value));
    const wanted = Math.min(Math.max(1, Math.round(top)), LARGEST);
    if (!known.includes(wanted)) this.top.add(new Option(String(wanted), String(wanted)));
    this.top.value = String(wanted);
  }

  /** Hide what has no effect: facts alone predict nothing, and scores are no probabilities. */
  #fit() {
    find("mode-field").hidden = !this.predicts;
    find("show-field").hidden = this.#effectiveMode === "exact";
    find("threshold-field").hidden = !PROBABLE.includes(this.#effectiveMode);
    find("threshold-value").textContent = Number(this.threshold.value)
      ? percent(Number(this.threshold.value)) : "any";
  }
}
