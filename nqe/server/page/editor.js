// The question box: a textarea, behind which a layer shows the same text in colours.
//
// A textarea keeps what browsers and screen readers do well: typing in any script, undo, phones.

import { afterPause, announce, make, replace } from "./dom.js";
import { expectsRelation, findPlace, isWord, readParts } from "./query_text.js";

const PAUSE = 90; // milliseconds without a key, before names are completed

/** The editor in an element with a textarea and a layer. */
export class Editor {
  #area;
  #layer;
  #list;
  #options = [];
  #active = -1;
  #place = null;
  #asked = 0;

  constructor(host, { onChange, onRun, complete }) {
    this.#area = host.querySelector("textarea");
    this.#layer = host.querySelector(".layer");
    this.#list = host.querySelector(".completions");
    this.onChange = onChange;
    this.onRun = onRun;
    this.complete = complete;
    this.later = afterPause(PAUSE, () => this.#offer());
    this.#listen();
    this.#paint();
  }

  get text() {
    return this.#area.value;
  }

  /** Show another text; nobody is told. */
  set text(value) {
    if (value === this.text) return;
    this.#area.value = value;
    this.#place = null;
    this.#close();
    this.#paint();
  }

  focus() {
    this.#area.focus();
    this.#area.setSelectionRange(this.text.length, this.text.length);
  }

  /** Mark where a problem is; null for none. */
  mark(problem) {
    this.#place = findPlace(this.text, problem);
    if (problem) this.#area.setAttribute("aria-invalid", "true");
    else this.#area.removeAttribute("aria-invalid");
    this.#paint();
  }

  /** Put a text in the place of a problem that was marked. */
  replaceMarked(text) {
    if (this.#place) this.#insert(text, this.#place.from, this.#place.to);
  }

  #listen() {
    const area = this.#area;
    area.addEventListener("input", (event) => {
      this.#place = null;
      this.#paint();
      this.onChange(this.text);
      if (event.isComposing) return;
      this.later();
    });
    area.addEventListener("keydown", (event) => this.#press(event));
    area.addEventListener("blur", () => this.#close());
    area.addEventListener("click", () => this.#close());
    this.#list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // so that the textarea keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) this.#accept(Number(option.dataset.place));
    });
  }

  #press(event) {
    if (event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#close();
      this.onRun();
      return;
    }
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (!this.#options.length) {
      if (event.key === " " && event.ctrlKey) {
        event.preventDefault();
        this.#offer();
      }
    } else if (event.key in steps) {
      event.preventDefault();
      const count = this.#options.length;
      this.#choose((this.#active + steps[event.key] + count) % count);
    } else if (event.key === "Escape") {
      event.preventDefault();
      this.#close();
    } else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) {
      event.preventDefault();
      this.#accept(this.#active);
    }
  }

  async #offer() {
    const { selectionStart: at, selectionEnd } = this.#area;
    const before = this.text.slice(0, at);
    this.#asked += 1;
    const asked = this.#asked;
    const typed = at === selectionEnd && /[^\s()[\],;:&|!?]$/u.test(before);
    const found = typed ? await this.complete(before) : [];
    const isCurrent = asked === this.#asked && this.#area.selectionStart === at;
    if (!isCurrent || document.activeElement !== this.#area) return;
    const [only] = found;
    const isDone = found.length === 1 && before.endsWith(only.text) && !isWord(only.text);
    if (!found.length || isDone) this.#close();
    else this.#open(found, at);
  }

  #open(found, at) {
    this.#options = found;
    replace(this.#list, found.map((one, place) => this.#makeOption(one, place)));
    this.#list.hidden = false;
    this.#putAt(at - found[0].replaces);
    this.#choose(0);
    announce(`${found.length} suggestions; arrow keys choose, Tab takes one`);
  }

  #makeOption(one, place) {
    return make("li", { role: "option", id: `completion-${place}`, "data-place": place,
      "aria-selected": "false" },
    make("span", { class: "name" }, one.name),
    one.description && make("span", { class: "description" }, one.description));
  }

  /** Put the list below the character at a place, within the editor's width. */
  #putAt(at) {
    const mark = this.#markerAt(at).getBoundingClientRect();
    const host = this.#layer.getBoundingClientRect();
    const widest = host.width - this.#list.offsetWidth;
    const left = Math.max(0, Math.min(mark.left - host.left, widest));
    this.#list.style.setProperty("left", `${left}px`);
    this.#list.style.setProperty("top", `${mark.bottom - host.top + 4}px`);
  }

  /** An empty element in the layer before the character at a place. */
  #markerAt(at) {
    this.#paint();
    let passed = 0;
    for (const part of this.#layer.childNodes) {
      if (passed + part.textContent.length > at) return part;
      passed += part.textContent.length;
    }
    return this.#layer.lastChild;
  }

  #choose(place) {
    this.#active = place;
    [...this.#list.children].forEach((option, number) => {
      option.setAttribute("aria-selected", String(number === place));
      if (number === place) option.scrollIntoView({ block: "nearest" });
    });
    this.#area.setAttribute("aria-activedescendant", `completion-${place}`);
  }

  #accept(place) {
    const chosen = this.#options[place];
    const at = this.#area.selectionStart;
    const from = at - chosen.replaces;
    const isRelation = expectsRelation(this.text.slice(0, from));
    const after = isWord(chosen.text) ? " " : isRelation && !/^\s*\(/.test(this.text.slice(at)) ? "(" : "";
    this.#close();
    this.#insert(chosen.text + after, from, at);
    this.#close();
  }

  #insert(text, from, to) {
    this.#area.focus();
    this.#area.setSelectionRange(from, to);
    // The only way of inserting that undo knows about; where it is missing, undo is lost.
    if (!document.execCommand("insertText", false, text)) {
      this.#area.setRangeText(text, from, to, "end");
      this.#area.dispatchEvent(new InputEvent("input"));
    }
    this.later.cancel();
  }

  #close() {
    this.#asked += 1;
    this.later.cancel();
    this.#options = [];
    this.#active = -1;
    this.#list.hidden = true;
    this.#area.removeAttribute("aria-activedescendant");
  }

  #paint() {
    let at = 0;
    const parts = readParts(this.text).flatMap((part) => {
      const from = at;
      at += part.text.length;
      return this.#split(part, from);
    });
    replace(this.#layer, parts, make("span", {}, "\u200b"));
  }

  /** A part as elements, cut where the marked place begins and ends. */
  #split(part, from) {
    const to = from + part.text.length;
    const cuts = this.#place ? [this.#place.from, this.#place.to] : [];
    const edges = [from, ...cuts.filter((cut) => cut > from && cut < to), to];
    return edges.slice(1).map((end, number) => {
      const start = edges[number];
      const isWrong = this.#place && start >= this.#place.from && end <= this.#place.to;
      const shown = part.text.slice(start - from, end - from);
      return make("span", { class: isWrong ? `${part.kind} wrong` : part.kind }, shown);
    });
  }
}
