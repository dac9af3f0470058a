// The text of a question: its words with their kinds, for colours and for completion.

// A sign that compares stands after a variable or alone; within a name it is a part of the name.
const WORDS = /"(?:\\.|[^"\\])*"?|\?[\p{L}\p{N}_]*|(?<=\?[\p{L}\p{N}_]+\s*)(?:[!<>]=|[<>=])|[^\s()[\],;:"&|!?]+|\s+|./gsu;
const JOINING = new Set(["and", "or", "only", "&", "|"]);
const NEGATING = new Set(["not", "!"]);
const COMPARING = new Set(["=", "!=", "<", "<=", ">", ">="]);
const COUNT = "count"; // a word of the language before the first colon only
const NAME = /^("|[^\s()[\],;:"&|!?])/u;

/** The parts of a text, each with its kind: variable, joining, negation, relation, … */
export function readParts(text) {
  const parts = (text.match(WORDS) || []).map((word) => ({ text: word, kind: kindOf(word) }));
  const solid = parts.filter((part) => part.kind !== "space");
  const colon = solid.findIndex(({ text: one }) => one === ":" || one === "(");
  solid.forEach((part, place) => {
    const isAsked = colon < 0 || place < colon;
    if (isAsked && part.kind === "variable") part.kind = "target";
    if (isAsked && part.text === COUNT && solid[place + 1]?.text !== "(") part.kind = "joining";
    if (part.kind === "name") part.kind = nameKind(solid[place + 1]);
  });
  return parts;
}

function kindOf(word) {
  if (/^\s/.test(word)) return "space";
  if (word.startsWith("?")) return "variable";
  if (JOINING.has(word)) return "joining";
  if (NEGATING.has(word)) return "negation";
  if (COMPARING.has(word)) return "comparing";
  return NAME.test(word) ? "name" : "sign";
}

function nameKind(next) {
  if (next?.text === "(") return "relation";
  return next?.text === ":" ? "attribute" : "entity";
}

/** Whether a relation stands at the end of a text: outside a statement, and not compared. */
export function expectsRelation(before) {
  const brackets = [];
  let last = "";
  for (const part of readParts(before)) {
    if (part.kind === "space") continue;
    if (part.text === "(") brackets.push(last.startsWith("?") || (NAME.test(last) && !isWord(last)));
    if (part.text === ")") brackets.pop();
    last = part.text;
  }
  return !brackets.at(-1) && !COMPARING.has(last);
}

/** Whether a text is one of the words of the language. */
export function isWord(text) {
  return JOINING.has(text) || NEGATING.has(text) || text === COUNT;
}

/** Where a problem's line and column are in a text: from and to; null if it has no place. */
export function findPlace(text, problem) {
  if (!problem?.line) return null;
  const lines = text.split("\n");
  const before = lines.slice(0, problem.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
  const columns = [...(lines[problem.line - 1] ?? "")]; // the server counts whole characters
  const start = columns.slice(0, problem.column - 1).join("").length;
  const meant = columns.slice(problem.column - 1, problem.column - 1 + (problem.length || 1));
  const from = Math.min(before + start, text.length);
  return { from, to: Math.min(from + Math.max(1, meant.join("").length), text.length) };
}
