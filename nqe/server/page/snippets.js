// The same question elsewhere: as a link, curl, Python, a command or SPARQL; and as a file.

import { Channel, isStale } from "./api.js";
import { find, make, replace, tell } from "./dom.js";
import { readToken } from "./token.js";

const sparql = new Channel();

// Each form with what writes it from a question: {query, request, name, link}.
const FORMS = {
  Link: ({ link }) => link,
  curl: ({ query, request }) => [
    `curl ${location.origin}/v1/answer`,
    "-H 'Content-Type: application/json'",
    readToken() && '-H "Authorization: Bearer $NQE_TOKEN"',
    `-d ${quoteShell(JSON.stringify({ query, ...request }))}`,
  ].filter(Boolean).join(" \\\n  "),
  Python: ({ query, request, hasRows }) => [
    ...(readToken() ? ["import os", ""] : []),
    "import nqe", "",
    `with nqe.Client(${[quotePython(location.origin), ...tokenArgument()].join(", ")}) as client:`,
    `    found = client.answer(${[quotePython(query), ...keywords(request)].join(", ")})`,
    ...(hasRows ? ["for row in found.rows:", "    print(*row.names, row.count or row.probability)"]
      : ["for answer in found.answers:", "    print(answer.label or answer.id, answer.probability)"]),
  ].join("\n"),
  Command: ({ query, request, name }) => [
    `nqe ask ${quoteShell(name)} ${quoteShell(query)}`, ...options(request),
  ].join(" "),
  SPARQL: async ({ query }) => (await sparql.post("/v1/sparql", { query })).sparql,
};

function tokenArgument() {
  return readToken() ? ['token=os.environ["NQE_TOKEN"]'] : [];
}

function quoteShell(text) {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function quotePython(text) {
  return JSON.stringify(text);
}

function keywords(request) {
  const words = { true: "True", false: "False" };
  return Object.entries(request).map(([name, value]) =>
    `${name}=${typeof value === "string" ? quotePython(value) : words[value] ?? value}`);
}

function options(request) {
  const { mode, top, threshold, stated_only: stated, predicted_only: predicted, order_by: order } = request;
  return [mode && `--mode ${mode}`, top && `--top ${top}`, threshold && `--threshold ${threshold}`,
    stated && "--stated", predicted && "--predicted", order && `--order-by ${quoteShell(order)}`].filter(Boolean);
}

/** Open the dialog with a question; `reply` holds its answers, or is null. */
export function openSnippets(question, reply) {
  const tabs = find("snippet-tabs");
  const show = (name) => {
    for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.textContent === name));
    write(name, question);
  };
  replace(tabs, Object.keys(FORMS).map((name) =>
    make("button", { type: "button", class: "toggle", onclick: () => show(name) }, name)));
  find("copy").onclick = () => copy(find("snippet").textContent);
  for (const name of ["json", "csv"]) {
    const button = find(`download-${name}`);
    button.disabled = !reply;
    button.onclick = () => download(name, reply);
  }
  find("snippet-dialog").showModal();
  show("Link");
}

async function write(name, question) {
  const place = find("snippet");
  try {
    place.textContent = await FORMS[name](question);
  } catch (error) {
    if (!isStale(error)) place.textContent = error.message;
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied");
  } catch {
    getSelection().selectAllChildren(find("snippet")); // as the browser allows no more
    tell("Selected; copy it with Ctrl+C");
  }
}

const FILES = {
  json: { type: "application/json", write: (reply) => `${JSON.stringify(reply, null, 2)}\n` },
  csv: { type: "text/csv", write: writeCsv },
};
const COLUMNS = ["rank", "id", "label", "description", "probability", "score", "source"];

function writeCsv({ answers, ...reply }) {
  if (reply.rows) return writeRows(reply);
  const rows = answers.map((answer, place) =>
    COLUMNS.map((column) => quoteCsv(column === "rank" ? place + 1 : answer[column])));
  return joinCsv([COLUMNS, ...rows]);
}

/** Rows as CSV: the id and the label of each target, the count if there is one. */
function writeRows({ rows, targets, counted }) {
  const head = [...targets.flatMap((name) => [name, `${name}_label`]), ...(counted ? ["count"] : []),
    "probability", "source"];
  return joinCsv([head, ...rows.map(({ cells, count, probability, known }) => [
    ...cells.flatMap(({ id, label }) => [id, label]), ...(counted ? [count] : []),
    probability, known ? "stated" : "predicted"].map(quoteCsv))]);
}

const joinCsv = (lines) => lines.map((line) => `${line.join(",")}\r\n`).join("");

function quoteCsv(value) {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function download(name, reply) {
  const { type, write: writeFile } = FILES[name];
  const address = URL.createObjectURL(new Blob([writeFile(reply)], { type }));
  const link = make("a", { href: address, download: `answers.${name}` });
  link.click();
  URL.revokeObjectURL(address);
}
