// Names that fit what is typed: for the question box and for the slots of the builder.

import { Channel, getOnce, settle } from "./api.js";

const MOST = 12;
const completions = new Channel();
const names = new Channel();

/** What can stand at the end of a question's text. */
export async function completeText(before) {
  let found = [];
  await settle(async () => {
    found = (await completions.get("/v1/complete", { prefix: before })).completions;
  }, ignore);
  return found;
}

/** Entities or relations whose names fit a text; without one, the relations of most facts. */
export async function searchNames(kind, text) {
  let found = [];
  await settle(async () => {
    if (text) found = (await names.get("/v1/entities", { search: text, kind, limit: MOST })).names;
    else if (kind === "relation") found = (await getOnce("/v1/relations?limit=40")).relations;
  }, ignore);
  return found;
}

/** A name that cannot be completed is typed in full. */
function ignore() {}
