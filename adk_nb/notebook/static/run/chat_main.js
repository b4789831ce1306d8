/**
 * A chat: the conversation, what is asked in it, and a box for what to say next.
 *
 * One module, three ways in, as for a run: `mountChats` brings the HTML in an output or a page to life with the snapshot
 * inside it, `initialize` links the kernel's chat with every copy on the page, `render` draws one in a widget view.
 *
 * Kernel to page: the trait `base` (a snapshot) and messages `{kind: "batch", changes}`, `{kind: "snapshot", ...}`,
 * `{kind: "errors", key, errors}`. Batches are numbered and hold whole items, and pieces of those that stream; a gap asks
 * for a snapshot. Page to kernel: `{kind: "snapshot" | "say" | "answer" | "stop"}`.
 *
 * Everything that a model, a tool or a person wrote goes through `textContent`.
 */

import { ChatView } from "./chat_view.js";
import { html } from "./elements.js";
import { linkModel, register } from "./link.js";

/** @param {string} key @param {string} copy @param {object} snapshot @param {string} styles */
export function mountChats(key, copy, snapshot, styles) {
  for (const root of document.querySelectorAll(`[data-adknb-chat="${key}"][data-adknb-copy="${copy}"]`)) {
    if (!root.adknbView) register(key, new ChatView(root, key, snapshot, styles));
  }
}

export default {
  initialize({ model }) {
    return linkModel(model);
  },
  render({ model, el }) {
    const root = html("div", "adknb adknb-run adknb-chat");
    el.append(root);
    register(model.get("_key"), new ChatView(root, model.get("_key"), model.get("base")));
  },
};
