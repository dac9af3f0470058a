// The page: waits until the server is ready, then shows what its address says.

import { getOnce, isStale } from "./api.js";
import { AskView } from "./ask.js";
import { Combobox } from "./combobox.js";
import { find, make, replace } from "./dom.js";
import { showEntity } from "./entity.js";
import { showGraph } from "./graph.js";
import { showModel } from "./model.js";
import { searchNames } from "./names.js";
import { showRelation } from "./relation.js";
import { showRelations } from "./relations.js";
import { entityAddress, readRoute } from "./routes.js";
import { untilReady } from "./start.js";
import { nameOf, visible } from "./words.js";

// The views besides that for questions; each fills an element and gives its title.
const VIEWS = {
  entity: showEntity, relation: showRelation, relations: showRelations, graph: showGraph, model: showModel,
};
const NARROW = "(max-width: 60rem)";

let ask = null;
let overview = null;
let isFirst = true;

async function start() {
  await untilReady();
  overview = await getOnce("/v1/graph");
  find("graph-name").textContent = visible(overview.name);
  find("version").textContent = overview.version;
  find("builder-field").open = !matchMedia(NARROW).matches;
  ask = new AskView(overview);
  addSearch();
  addEventListener("popstate", open);
  find("skip").addEventListener("click", skipHead);
  if (/Mac|iPhone|iPad/.test(navigator.platform)) find("control").textContent = "⌘";
  find("page").hidden = false;
  await open();
}

async function open() {
  const route = readRoute();
  const show = VIEWS[route.view];
  find("ask").hidden = Boolean(show);
  find("browse").hidden = !show;
  markPlace(route.view);
  const wasFirst = isFirst;
  isFirst = false;
  if (!show) {
    ask.open(route.parameters);
    document.title = route.parameters.get("q") ? `${route.parameters.get("q")} · nqe` : "nqe";
    return;
  }
  await openView(show, route);
  if (!wasFirst) {
    scrollTo(0, 0);
    find("browse").querySelector("h1")?.focus();
  }
}

async function openView(show, route) {
  const host = find("browse");
  host.setAttribute("aria-busy", "true");
  try {
    const title = await show(host, route, overview);
    document.title = `${title} · nqe`;
  } catch (error) {
    if (isStale(error)) return;
    if (!error.problem) throw error;
    replace(host, make("header", { class: "page-head" }, make("h1", { tabindex: -1 }, error.problem.title ?? "A problem"),
      make("p", { class: "lead" }, visible(error.message))));
  } finally {
    host.removeAttribute("aria-busy");
  }
}

/** Put the focus behind the head of the page; its address stays as it is. */
function skipHead(event) {
  event.preventDefault();
  const place = find("ask").hidden ? find("browse").querySelector("h1") : find("question");
  place?.focus();
}

function markPlace(view) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function addSearch() {
  const search = new Combobox({ label: "Find an entity", placeholder: "Find an entity",
    search: async (text) => (await searchNames("entity", text)).map((one) => (
      { name: nameOf(one), description: one.description ?? one.id, value: one.id })),
    onPick: ({ value }) => {
      search.field.value = "";
      search.shown = "";
      location.hash = entityAddress(value);
    } });
  find("search").append(search.element);
}

start();
