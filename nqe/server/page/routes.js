// Addresses: what the page shows is in the part of its address after #.

/** The view and its parameters, from an address such as #/ask?q=… or #/entity/Q42. */
export function readRoute(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view, ...rest] = path.split("/");
  return {
    view: view || "ask",
    id: decode(rest.join("/")),
    parameters: new URLSearchParams(query),
  };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // as a percent sign that was typed into the address
  }
}

/** The address of an entity's page. */
export function entityAddress(id) {
  return `#/entity/${encodeURIComponent(id)}`;
}

/** The address of a relation's page. */
export function relationAddress(id) {
  return `#/relation/${encodeURIComponent(id)}`;
}

/** The address of a question; empty and default parameters are left out. */
export function questionAddress(question) {
  const given = Object.entries(question).filter(([, value]) => value !== null && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return query.size ? `#/ask?${query}` : "#/ask";
}

/** Change the address without a new entry in the history. */
export function amendAddress(address) {
  if (location.hash !== address) history.replaceState(null, "", address);
}

/** Change the address with a new entry, unless it is the same. */
export function pushAddress(address) {
  if (location.hash !== address) history.pushState(null, "", address);
}
