/**
 * The graph-versus-loop calculator: sliders, what follows from them, charts, and the extended model behind one click.
 *
 * One module, three ways in. As an anywidget, `initialize` links the kernel's object with every copy of the
 * calculator on the page and `render` draws one into another widget's box. As a script inside an output or a saved
 * page, `mountCopies` brings the copies to life; without a kernel they go on answering, on their own.
 * Python joins this file with those that it imports into one module.
 *
 * @typedef {import("./calculator_model.js").Values} Values the mirrored traits
 * @typedef {{send: (values: Partial<Values>) => void, settle: () => void}} Port
 *   the way to the kernel: changed values; "nobody is touching the sliders, the saved copy may be renewed"
 * @typedef {{presets: object[], findings: string[][], caches: object, prices: object, prices_date: string,
 *   prices_source: string, cache_caveat: string}} Tables what the menus offer, from `adk_nb.calculator`
 */

import { NAMES, View } from "./calculator_view.js";

/* Copies of one calculator and the kernel's object find each other by key, whichever comes first. Views are held weakly:
   a host may take an output off the page and put it back, or drop it without a word. */

/** @type {{views: Map<string, Set<WeakRef<View>>>, ports: Map<string, Port & {values: () => Values}>}} */
const meeting = (globalThis[Symbol.for("adk_nb.calculator")] ??= { views: new Map(), ports: new Map() });

function viewsOf(key) {
  const refs = meeting.views.get(key) ?? new Set();
  for (const ref of refs) if (!ref.deref()) refs.delete(ref);
  return [...refs].map((ref) => ref.deref());
}

function join(key, view) {
  if (!meeting.views.has(key)) meeting.views.set(key, new Set());
  meeting.views.get(key).add(new WeakRef(view));
  // The element keeps its view alive, and nothing else does.
  view.root.adknbView = view;
  const port = meeting.ports.get(key);
  if (port) {
    view.port = port;
    view.show(port.values());
  }
}

/** Bring every copy with this key on the page to life. @param {string} key @param {Values} values @param {Tables} tables */
export function mountCopies(key, values, tables) {
  for (const root of document.querySelectorAll(`[data-adknb-calculator="${key}"]`)) {
    if (!root.adknbView) join(key, new View(root, values, tables));
  }
}

function valuesOf(model) {
  return Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
}

function initialize({ model }) {
  const key = model.get("_key");
  let isSending = false; // A change of several values reaches the other copies as one.
  const port = {
    values: () => valuesOf(model),
    send(values) {
      isSending = true;
      for (const [name, value] of Object.entries(values)) model.set(name, value);
      isSending = false;
      spreadValues();
      model.save_changes();
    },
    settle() {
      // Renewing the saved copy redraws every copy on the page: not under the hand of somebody who is using one.
      const isInUse = viewsOf(key).some(({ root }) => root.contains(document.activeElement));
      if (!isInUse) model.send({ kind: "settled" });
    },
  };
  const spreadValues = () => isSending || viewsOf(key).forEach((view) => view.show(port.values()));
  meeting.ports.set(key, port);
  for (const view of viewsOf(key)) {
    view.port = port;
    view.show(port.values());
  }
  for (const name of NAMES) model.on(`change:${name}`, spreadValues);
  return () => {
    for (const name of NAMES) model.off(`change:${name}`, spreadValues);
    if (meeting.ports.get(key) === port) meeting.ports.delete(key);
    for (const view of viewsOf(key)) view.port = null;
  };
}

function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  join(model.get("_key"), new View(root, valuesOf(model), model.get("_tables")));
}

export default { initialize, render };
