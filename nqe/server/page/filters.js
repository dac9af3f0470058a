// The choices above the answers: mode, which ones, from which probability, how many, in what order.

import { find, make, replace } from "./dom.js";
import { listColumns } from "./rows.js";
import { percent } from "./words.js";

const DEFAULTS = { show: "all", top: 25 };
const LARGEST = 1000;
const COMPARED = ["hybrid", "embedding", "exact"]; // the modes that stand side by side
const PROBABLE = ["hybrid", "rules"]; // the modes whose answers have probabilities of their own

/** The filters; `onChange` is called when one of them is changed. */
export class Filters {
  #wanted; // the mode that was chosen, which not every question can be asked in
  #order = null; // the column to sort exact answers by, with “desc” if downwards

  constructor({ model, rules }, onChange) {
    this.predicts = Boolean(model) || rules > 0;
    this.usual = model ? "hybrid" : this.predicts ? "rules" : "exact";
    this.mode = find("mode");
    const lacking = [...(model ? [] : ["hybrid", "embedding", "compare"]), ...(rules > 0 ? [] : ["rules"])];
    for (const option of [...this.mode.options]) if (lacking.includes(option.value)) option.remove();
    this.threshold = find("threshold");
    this.top = find("top");
    this.order = find("order");
    this.onChange = onChange;
    this.shows = [...document.querySelectorAll("input[name=show]")];
    this.#wanted = this.usual;
    this.mode.value = this.usual;
    this.mode.addEventListener("change", () => { this.#wanted = this.mode.value; });
    this.order.addEventListener("change", () => { this.#order = this.order.value || null; });
    for (const control of [this.mode, this.top, this.order, ...this.shows]) {
      control.addEventListener("change", () => { this.#fit(); onChange(); });
    }
    this.threshold.addEventListener("input", () => this.#fit());
    this.threshold.addEventListener("change", onChange);
    this.#fit();
  }

  /** What is chosen, in the words of the page's address; defaults are null. */
  get chosen() {
    const mode = this.#wanted === this.usual ? null : this.#wanted;
    const show = this.shows.find((one) => one.checked)?.value;
    return {
      mode,
      show: show === DEFAULTS.show ? null : show,
      threshold: Number(this.threshold.value) || null,
      top: Number(this.top.value) === DEFAULTS.top ? null : Number(this.top.value),
      order: this.#order,
    };
  }

  /** Choose what an address says; what it does not say is the default. */
  set chosen(parameters) {
    const mode = parameters.get("mode");
    const known = [...this.mode.options].map((option) => option.value);
    this.#wanted = known.includes(mode) ? mode : this.usual;
    this.mode.value = this.#wanted;
    this.#order = parameters.get("order") || null;
    const show = parameters.get("show") || DEFAULTS.show;
    for (const one of this.shows) one.checked = one.value === show;
    if (!this.shows.some((one) => one.checked)) this.shows[0].checked = true;
    this.threshold.value = Number(parameters.get("threshold")) || 0;
    this.#setTop(Number(parameters.get("top")) || DEFAULTS.top);
    this.#fit();
  }

  /** Offer what a question can be asked with: the modes that can answer it, and its columns. */
  fit({ modes, targets, counted }) {
    if (!modes.length) return; // it is wrong, and will be mended
    const canBeAsked = (mode) => (mode === "compare" ? COMPARED.every((one) => modes.includes(one))
      : modes.includes(mode));
    for (const option of this.mode.options) option.disabled = !canBeAsked(option.value);
    this.mode.value = canBeAsked(this.#wanted) ? this.#wanted : modes[0];
    const columns = listColumns({ targets, counted });
    if (!columns.some((column) => [column, `${column} desc`].includes(this.#order))) this.#order = null;
    replace(this.order, make("option", { value: "" }, "id"), columns.map((column) => [
      make("option", { value: column }, `${column} ▲`),
      make("option", { value: `${column} desc` }, `${column} ▼`)]));
    this.#fit();
  }

  /** Sort by a column: first up, then down, then as before. */
  sortBy(column) {
    const next = { [column]: `${column} desc`, [`${column} desc`]: null };
    this.#order = this.#order in next ? next[this.#order] : column;
    this.#fit();
    this.onChange();
  }

  /** The fields of a request, for one mode. */
  toRequest(mode = this.#effectiveMode) {
    const { show, threshold, top, order } = this.chosen;
    return {
      ...(this.predicts && { mode }),
      top: top ?? DEFAULTS.top,
      ...(threshold && PROBABLE.includes(mode) && { threshold }),
      ...(show === "stated" && mode !== "exact" && { stated_only: true }),
      ...(show === "predicted" && mode !== "exact" && { predicted_only: true }),
      ...(order && mode === "exact" && { order_by: order }),
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
    find("order-field").hidden = this.#effectiveMode !== "exact";
    this.order.value = this.#order ?? "";
    find("show-field").hidden = this.#effectiveMode === "exact";
    find("threshold-field").hidden = !PROBABLE.includes(this.#effectiveMode);
    find("threshold-value").textContent = Number(this.threshold.value)
      ? percent(Number(this.threshold.value)) : "any";
  }
}
