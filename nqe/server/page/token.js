// The token: asked for when the server wants one, and kept until the browser's tab is closed.

import { find } from "./dom.js";

const KEY = "nqe-token";
let asked = null;

/** The token to send, or null. */
export function readToken() {
  return sessionStorage.getItem(KEY);
}

/** Ask for the token; all requests that need it wait for the same answer. */
export function askForToken(wasWrong) {
  asked ??= new Promise((resolve) => openDialog(wasWrong, resolve)).finally(() => { asked = null; });
  return asked;
}

function openDialog(wasWrong, resolve) {
  const dialog = find("token-dialog");
  const field = find("token");
  find("token-problem").hidden = !wasWrong;
  field.value = "";
  dialog.oncancel = (event) => event.preventDefault();
  find("token-form").onsubmit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, field.value.trim());
    dialog.close();
    resolve();
  };
  if (!dialog.open) dialog.showModal();
  field.focus();
}
