// A combobox: a text field with a list of what fits the text, as ARIA describes it.

import { afterPause, make, replace } from "./dom.js";

const PAUSE = 80;
let made = 0;

/**
 * A field that offers options; `search(text)` gives them as {name, description, value}.
 * `onPick(option)` receives a chosen one, `onText(text)` what was typed without choosing.
 */
export class Combobox {
  #options = [];
  #active = -1;
  #asked = 0;

  constructor({ label, text = "", placeholder = "", kind = "", search, onPick, onText }) {
    made += 1;
    this.id = `options-${made}`;
    this.search = search;
    this.onPick = onPick;
    this.onText = onText;
    this.shown = text;
    this.list = make("ul", { class: "completions", role: "listbox", id: this.id, hidden: true,
      "aria-label": `${label}: suggestions` });
    this.field = make("input", {
      type: "text", role: "combobox", class: kind, "aria-label": label, placeholder,
      "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.id,
      autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    });
    this.field.value = text;
    this.element = make("span", { class: "combobox" }, this.field, this.list);
    this.later = afterPause(PAUSE, () => this.#offer());
    this.#listen();
  }

  #listen() {
    const field = this.field;
    field.addEventListener("input", () => this.later());
    field.addEventListener("focus", () => { field.select(); this.later(); });
    field.addEventListener("click", () => { if (this.list.hidden) this.later(); });
    field.addEventListener("blur", () => { this.#close(); this.#leave(); });
    field.addEventListener("keydown", (event) => this.#press(event));
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = event.target.closest("[role=option]");
      if (option) this.#pick(Number(option.dataset.place));
    });
  }

  #press(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) {
      event.preventDefault();
      if (!this.#options.length) this.#offer();
      else this.#choose((this.#active + steps[event.key] + this.#options.length) % this.#options.length);
    } else if (event.key === "Escape" && !this.list.hidden) {
      event.preventDefault();
      this.#close();
    } else if (event.key === "Tab" && this.#active >= 0) {
      this.#pick(this.#active); // and the focus moves on
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if (this.#active >= 0) this.#pick(this.#active);
      else this.#leave();
    }
  }

  async #offer() {
    this.#asked += 1;
    const asked = this.#asked;
    const text = this.field.value === this.shown ? "" : this.field.value.trim();
    const found = await this.search(text);
    if (asked !== this.#asked || document.activeElement !== this.field) return;
    this.#options = found;
    replace(this.list, found.map((one, place) => make("li", {
      role: "option", id: `${this.id}-${place}`, "data-place": place, "aria-selected": "false" },
    make("span", { class: `name ${one.kind || ""}` }, one.name),
    one.description && make("span", { class: "description" }, one.description))));
    this.list.hidden = !found.length;
    this.field.setAttribute("aria-expanded", String(found.length > 0));
    if (found.length && text) this.#choose(0);
    else this.#active = -1;
  }

  #choose(place) {
    this.#active = place;
    [...this.list.children].forEach((option, number) => {
      option.setAttribute("aria-selected", String(number === place));
      if (number === place) option.scrollIntoView({ block: "nearest" });
    });
    this.field.setAttribute("aria-activedescendant", `${this.id}-${place}`);
  }

  #pick(place) {
    const chosen = this.#options[place];
    this.field.value = chosen.name;
    this.shown = chosen.name;
    this.#close();
    this.onPick(chosen);
  }

  /** What was typed counts as it is, when the field is left. */
  #leave() {
    const text = this.field.value.trim();
    if (text === this.shown) return;
    this.shown = text;
    this.onText?.(text);
  }

  #close() {
    this.#asked += 1;
    this.later.cancel();
    this.#options = [];
    this.#active = -1;
    this.list.hidden = true;
    this.field.setAttribute("aria-expanded", "false");
    this.field.removeAttribute("aria-activedescendant");
  }
}
