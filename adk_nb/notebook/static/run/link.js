/**
 * The line between a kernel's object and the copies of its view on the page.
 *
 * Copies and the kernel's object find each other by key, whichever comes first. Views are held weakly: a host may take
 * an output off the page and put it back, or drop it without a word. A view has `takeSnapshot`, `takeBatch` (which says
 * whether one before is missing), `takeAnswer` (any other message), `connect` (to a port, or to nothing) and `lose` (its
 * kernel is gone); what it takes is the message as the kernel sent it.
 */

/** @type {{views: Map<string, Set<WeakRef<object>>>, ports: Map<string, object>}} */
const lines = (globalThis[Symbol.for("adk_nb.lines")] ??= { views: new Map(), ports: new Map() });

function copiesOf(key) {
  const refs = lines.views.get(key) ?? new Set();
  for (const ref of refs) if (!ref.deref()) refs.delete(ref);
  return [...refs].map((ref) => ref.deref());
}

export function register(key, view) {
  if (!lines.views.has(key)) lines.views.set(key, new Set());
  lines.views.get(key).add(new WeakRef(view));
  // The element keeps its view alive, and nothing else does.
  view.root.adknbView = view;
  lines.ports.get(key)?.greet(view);
}

/** Link a widget's model with the copies of its view; returns what ends it. */
export function linkModel(model) {
  const key = model.get("_key");
  const base = () => ({ snapshot: model.get("base"), now: model.get("now") });
  let typed = null;
  const lose = (word) => copiesOf(key).forEach((view) => view.lose(word));
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
    draft(name, values) {
      model.set("drafts", { ...port.drafts(), [name]: values });
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
    if (message.kind === "ping") return port.send({ kind: "pong" });
    let isGap = false;
    for (const view of copiesOf(key)) {
      if (message.kind === "batch") isGap = view.takeBatch(message) || isGap;
      else if (message.kind === "snapshot") view.takeSnapshot(message);
      else view.takeAnswer(message);
    }
    return isGap && port.send({ kind: "snapshot" });
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
  const onBase = () => copiesOf(key).forEach((view) => view.takeSnapshot(base()));
  model.on("msg:custom", onMessage);
  model.on("change:base", onBase);
  lines.ports.set(key, port);
  for (const view of copiesOf(key)) port.greet(view);
  return () => {
    model.off("msg:custom", onMessage);
    model.off("change:base", onBase);
    kernel?.statusChanged?.disconnect(onStatus);
    kernel?.disposed?.disconnect(onGone);
    clearTimeout(typed);
    if (lines.ports.get(key) !== port) return;
    lines.ports.delete(key);
    for (const view of copiesOf(key)) view.connect(null);
  };
}
