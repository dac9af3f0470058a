// Markdown of a model's card as elements: headings, lists, tables, code and paragraphs.

import { make } from "./dom.js";

/** The blocks of a text in Markdown; markup in it is shown as text. */
export function renderMarkdown(text) {
  return text.split(/\n{2,}/).map((block) => block.trim()).filter(Boolean).map(renderBlock);
}

function renderBlock(block) {
  const lines = block.split("\n");
  const heading = /^(#{1,4}) (.*)$/.exec(lines[0]);
  if (heading) {
    const title = make("h4", {}, renderLine(heading[2]));
    return lines.length > 1 ? make("div", {}, title, renderBlock(lines.slice(1).join("\n"))) : title;
  }
  if (lines.every((line) => /^[-*] /.test(line))) {
    return make("ul", {}, lines.map((line) => make("li", {}, renderLine(line.slice(2)))));
  }
  if (lines.length > 1 && lines.every((line) => line.startsWith("|"))) return renderTable(lines);
  if (block.startsWith("```")) return make("pre", { tabindex: 0 }, lines.slice(1, -1).join("\n"));
  return make("p", {}, renderLine(lines.join(" ")));
}

function renderTable([head, , ...rows]) {
  const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => renderLine(cell.trim()));
  return make("table", {},
    make("thead", {}, make("tr", {}, cells(head).map((cell) => make("th", { scope: "col" }, cell)))),
    make("tbody", {}, rows.map((row) => make("tr", {}, cells(row).map((cell) => make("td", {}, cell))))));
}

/** A line, in which `code` is code and a backslash before a sign is left out. */
function renderLine(line) {
  return line.split(/(`[^`]+`)/).filter(Boolean).map((part) =>
    (part.startsWith("`") ? make("code", {}, part.slice(1, -1)) : part.replace(/\\([\\`*_[\]<>|&~$])/g, "$1")));
}
