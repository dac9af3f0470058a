// Requests to the server: the token, problems, progress, and replies that come too late.

import { askForToken, readToken } from "./token.js";

const SHOWN_AFTER = 90; // milliseconds, before a request that is under way is shown

/** What the server refused; `problem` is its problem document. */
class Refused extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || "The server gave no reason.");
    this.problem = problem;
  }
}

/** Whether an error only says that a newer request took the place of this one. */
export function isStale(error) {
  return error.name === "AbortError";
}

/** Do something that asks the server; what it refuses is told, and what comes too late is dropped. */
export async function settle(work, tell) {
  try {
    await work();
  } catch (error) {
    if (isStale(error)) return;
    if (!error.problem) throw error;
    tell(error.problem);
  }
}

/** Requests of one kind, of which only the newest counts: a new one ends the one before. */
export class Channel {
  #controller = null;

  post(address, body) {
    return send(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: this.#renew(),
    });
  }

  get(address, parameters = {}) {
    const query = new URLSearchParams(parameters).toString();
    return send(query ? `${address}?${query}` : address, { signal: this.#renew() });
  }

  cancel() {
    this.#controller?.abort();
  }

  #renew() {
    this.cancel();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }
}

const kept = new Map();

/** A reply that stays the same while the page is open, asked for once. */
export function getOnce(address) {
  if (!kept.has(address)) {
    const reply = new Channel().get(address);
    kept.set(address, reply);
    reply.catch(() => kept.delete(address));
  }
  return kept.get(address);
}

async function send(address, options) {
  const end = showProgress();
  try {
    return await sendWithToken(address, options);
  } finally {
    end();
  }
}

async function sendWithToken(address, options) {
  const token = readToken();
  const headers = { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) };
  const reply = await reach(address, { ...options, headers });
  if (reply.status === 401) {
    await askForToken(Boolean(token));
    return sendWithToken(address, options);
  }
  const content = await reply.json().catch((error) => {
    if (isStale(error)) throw error;
    return {};
  });
  if (!reply.ok) throw new Refused(content);
  return content;
}

async function reach(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (isStale(error)) throw error;
    throw new Refused({ detail: "The server cannot be reached. Is it still running?" });
  }
}

let underWay = 0;
let timer = null;

/** Show that something is under way, if it takes longer than a moment; returns what ends it. */
function showProgress() {
  underWay += 1;
  timer ??= setTimeout(() => document.body.classList.add("waiting"), SHOWN_AFTER);
  return () => {
    underWay -= 1;
    if (underWay) return;
    clearTimeout(timer);
    timer = null;
    document.body.classList.remove("waiting");
  };
}
