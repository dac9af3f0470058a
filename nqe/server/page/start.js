// The start screen: how far the server is, until it is ready.

import { find } from "./dom.js";

const EVERY = 600; // milliseconds

/** Wait until the server is ready; shows what it is doing meanwhile. */
export async function untilReady() {
  for (;;) {
    const health = await readHealth();
    if (health.status === "ready") break;
    show(health);
    if (health.status === "stopping") await new Promise(() => {}); // it will not get ready
    await new Promise((resolve) => setTimeout(resolve, EVERY));
  }
  find("start").hidden = true;
}

async function readHealth() {
  try {
    return await (await fetch("/readyz")).json();
  } catch {
    return { status: "starting", detail: "waiting for the server" };
  }
}

function show(health) {
  const progress = find("start-progress");
  find("start").hidden = false;
  const failed = health.status === "stopping";
  find("start-title").textContent = failed ? "It cannot start" : "One moment";
  const detail = health.detail || "loading";
  if (find("start-detail").textContent !== detail) find("start-detail").textContent = detail;
  progress.hidden = failed;
  if (health.progress === undefined || health.progress === null) progress.removeAttribute("value");
  else progress.value = health.progress;
}
