/**
 * Copies of one run and the kernel's object find each other by key, whichever comes first.
 *
 * Views are held weakly: a host may take an output off the page and put it back, or drop it without a word.
 */

import { RunView } from "./view.js";

/** @type {{views: Map<string, Set<WeakRef<RunView>>>, ports: Map<string, object>}} */
export const meeting = (globalThis[Symbol.for("adk_nb.run")] ??= { views: new Map(), ports: new Map() });

export function viewsOf(key) {
  const refs = meeting.views.get(key) ?? new Set();
  for (const ref of refs) if (!ref.deref()) refs.delete(ref);
  return [...refs].map((ref) => ref.deref());
}

export function join(key, view) {
  if (!meeting.views.has(key)) meeting.views.set(key, new Set());
  meeting.views.get(key).add(new WeakRef(view));
  // The element keeps its view alive, and nothing else does.
  view.root.adknbView = view;
  meeting.ports.get(key)?.greet(view);
}
