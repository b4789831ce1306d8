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
 * whole values, so applying one twice is harmless; a gap asks for a snapshot. Page to kernel: `{kind: "snapshot"}`,
 * `{kind: "answer", key, values, json}`, `{kind: "stop"}`, `{kind: "rows", before}` for rows older than the snapshot's,
 * `{kind: "details", numbers}` for the events behind rows. The trait `drafts` holds what is typed.
 *
 * Everything that a model, a tool or a person wrote goes through `textContent`.
 *
 * @typedef {{seq: number, header: object, nodes: Object<string, object>, edges: string[][], rows: Array[],
 *   row_count: number, spans: Array[], start_state: object, details: object,
 *   questions: object[], result: ?object, error: ?object, warnings: object[]}} Snapshot
 * @typedef {{send(message: object): void, drafts(): object, draft(key: string, values: ?object): void}} Port
 */

import { html } from "./elements.js";
import { parseSvg } from "./graph.js";
import { join, meeting, viewsOf } from "./meeting.js";
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
    join(key, new RunView(root, snapshot, still && parseSvg(pictureText(still.src)), styles, outline));
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
  const key = model.get("_key");
  const base = () => ({ snapshot: model.get("base"), now: model.get("now") });
  let typed = null;
  const lose = (word) => viewsOf(key).forEach((view) => view.lose(word));
  // A line whose other end is gone raises when it is used.
  const attempt = (act) => {
    try {
      act();
    } catch {
      lose("kernel gone");
    }
  };
  const port = {
    send: (message) => attempt(() => model.send(message)),
    drafts: () => model.get("drafts") ?? {},
    draft(question, values) {
      const drafts = { ...port.drafts(), [question]: values };
      model.set("drafts", drafts);
      clearTimeout(typed);
      typed = setTimeout(() => attempt(() => model.save_changes()), 300);
    },
    greet(view) {
      view.takeSnapshot(base());
      view.connect(port);
      port.send({ kind: "snapshot" });
    },
  };
  const onMessage = (message) => {
    let isGap = false;
    for (const view of viewsOf(key)) {
      if (message.kind === "batch") isGap = view.takeBatch(message) || isGap;
      else if (message.kind === "snapshot") view.takeSnapshot(message);
      else if (message.kind === "rows") view.takeRows(message);
      else if (message.kind === "details") view.takeDetails(message);
      else if (message.kind === "errors") view.showErrors(message);
    }
    if (isGap) port.send({ kind: "snapshot" });
  };
  // JupyterLab and Notebook 7 show their kernel here; elsewhere a loss is noticed when something is sent.
  const kernel = model.widget_manager?.kernel;
  const onStatus = (_, status) => {
    if (["restarting", "autorestarting"].includes(status)) lose("kernel restarted");
    else if (["dead", "terminating"].includes(status)) lose("kernel gone");
  };
  const onGone = () => lose("kernel gone");
  kernel?.statusChanged?.connect(onStatus);
  kernel?.disposed?.connect(onGone);
  const onBase = () => viewsOf(key).forEach((view) => view.takeSnapshot(base()));
  model.on("msg:custom", onMessage);
  model.on("change:base", onBase);
  meeting.ports.set(key, port);
  for (const view of viewsOf(key)) port.greet(view);
  return () => {
    model.off("msg:custom", onMessage);
    model.off("change:base", onBase);
    kernel?.statusChanged?.disconnect(onStatus);
    kernel?.disposed?.disconnect(onGone);
    clearTimeout(typed);
    if (meeting.ports.get(key) !== port) return;
    meeting.ports.delete(key);
    for (const view of viewsOf(key)) view.connect(null);
  };
}

function render({ model, el }) {
  const root = html("div", "adknb adknb-run");
  el.append(root);
  join(model.get("_key"), new RunView(root, model.get("base"), model.get("graph") ? parseSvg(model.get("graph")) : null));
}

export default { initialize, render };
