/**
 * The view of one run: header, graph, forms, tabs, result.
 *
 * One module, three ways in. `mountCopies` brings the HTML in an output or a page to life with the snapshot inside it.
 * As an anywidget, `initialize` links the kernel's run with every copy on the page by key, so that they move and their
 * forms can be sent; without a kernel the copies show what they were saved with. `render` draws a copy in a widget view,
 * for hosts that keep outputs apart.
 *
 * Kernel to page: the trait `base` (a snapshot) and messages `{kind: "batch", changes, now}`, `{kind: "snapshot", ...}`,
 * `{kind: "errors", key, errors}`, `{kind: "rows", rows}`, `{kind: "details", details}`. Batches are numbered and hold
 * whole values, so applying one twice is harmless; a gap asks for a snapshot. `{kind: "ping"}` asks whether clicks arrive
 * just now, and `{kind: "pong"}` says so. Page to kernel: `{kind: "snapshot"}`,
 * `{kind: "answer", key, entry, json}`, `{kind: "stop"}`, `{kind: "rows", before}` for rows older than the snapshot's,
 * `{kind: "details", numbers}` for the events behind rows. The trait `drafts` holds what is typed.
 *
 * Everything that a model, a tool or a person wrote goes through `textContent`.
 *
 * @typedef {{seq: number, header: object, nodes: Object<string, object>, edges: string[][], rows: Array[],
 *   row_count: number, spans: Array[], log: Array[], calls: Array[], start_state: object, details: object,
 *   questions: object[], result: ?object, error: ?object, warnings: object[]}} Snapshot
 * @typedef {{send(message: object): void, drafts(): object, draft(key: string, values: ?object): void}} Port
 */

import { html } from "./elements.js";
import { parseSvg } from "./graph.js";
import { linkModel, register } from "./link.js";
import { RunView } from "./view.js";

/**
 * Bring the copies of one output to life. A host may replace an output before the script of the one before has run, so
 * that a script looks only for the HTML it came with.
 * @param {string} key @param {string} copy @param {string} packed a `Snapshot` with its `styles`, as the kernel packs it
 */
export async function mountCopies(key, copy, packed) {
  const roots = document.querySelectorAll(`[data-adknb-run="${key}"][data-adknb-copy="${copy}"]`);
  if (![...roots].some((root) => !root.adknbView)) return;
  const text = await unpack(packed);
  for (const root of roots) {
    if (root.adknbView) continue;
    const still = root.querySelector(".adknb-run-still");
    const outline = root.querySelector(".adknb-run-outline")?.textContent;
    const { styles, ...snapshot } = JSON.parse(text);
    register(key, new RunView(root, snapshot, still && parseSvg(pictureText(still.src)), styles, outline));
  }
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

function unpack(packed) {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/** The text of a picture that stands in the page as a data URL. */
function pictureText(url) {
  return new TextDecoder().decode(bytesOf(url.slice(url.indexOf(",") + 1)));
}

function initialize({ model }) {
  return linkModel(model);
}

function render({ model, el }) {
  const root = html("div", "adknb adknb-run");
  el.append(root);
  register(model.get("_key"), new RunView(root, model.get("base"), model.get("graph") ? parseSvg(model.get("graph")) : null));
}

export default { initialize, render };
