/** One run on a page: status line, graph, what is asked and what came of it, tabs. */

import { html, keepKeys } from "./elements.js";
import { GraphPane } from "./graph.js";
import { Header } from "./header.js";
import { SidePane, warningView } from "./side.js";
import { RunState } from "./state.js";
import { EventTable } from "./table.js";

export class RunView {
  /**
   * @param {HTMLElement} root @param {Snapshot} snapshot @param {?SVGElement} svg
   * @param {string} [styles] a style sheet to bring along @param {string} [outline] the graph as text
   */
  constructor(root, snapshot, svg, styles = "", outline = "") {
    this.root = root;
    this.state = new RunState(snapshot);
    this.offset = null;
    this.port = null;
    this.header = new Header(() => this.port?.send({ kind: "stop" }));
    this.graph = new GraphPane(svg, (path) => this.pick(path), outline);
    this.side = new SidePane();
    this.table = new EventTable((path) => this.graph.select(path));
    this.notes = html("div", "adknb-run-warnings");
    this.main = html("div", "adknb-run-main", this.graph.element, this.side.element);
    const sheet = styles ? [html("style", "", styles)] : [];
    root.replaceChildren(...sheet, this.header.element, this.main, this.notes, this.table.tabs, this.table.scroller);
    keepKeys(root);
    this.draw();
  }

  get isSettled() {
    return !["running", "waiting"].includes(this.state.header.status);
  }

  /** The kernel's time, or nothing where no kernel tells it. */
  now() {
    return this.offset === null || this.isSettled || this.state.lost ? null : Date.now() / 1000 - this.offset;
  }

  /** The kernel that ran it is gone, and the run with it. @param {string} word what became of the kernel */
  lose(word) {
    if (this.isSettled || this.state.lost) return;
    const { header } = this.state;
    // Clocks stand still where they were.
    const on = header.since === null || this.now() === null ? 0 : Math.max(0, this.now() - header.since);
    header[header.status === "running" ? "busy_s" : "waiting_s"] += on;
    this.state.lost = word;
    this.draw([]);
  }

  draw(rows) {
    const { state } = this;
    this.root.dataset.status = state.lost ? "lost" : state.header.status;
    this.header.draw(state, Boolean(this.port));
    this.header.tick(state, this.now());
    this.graph.draw(state, this.now());
    this.side.draw(state, this.port, this.isSettled);
    this.graph.element.hidden = this.graph.isEmpty;
    this.main.hidden = this.graph.element.hidden && this.side.element.hidden;
    this.main.classList.toggle("adknb-run-two", !this.side.element.hidden && !this.graph.element.hidden);
    this.table.draw(state, rows);
    this.drawNotes();
  }

  drawNotes() {
    const { warnings } = this.state;
    if (this.warned !== warnings) {
      this.warned = warnings;
      this.notes.replaceChildren(...warnings.map(warningView));
    }
    this.notes.hidden = warnings.length === 0;
  }

  pick(path) {
    const name = path.split("/").pop();
    this.table.filter.value = this.table.filter.value === name ? "" : name;
    this.table.redraw();
    this.graph.select(this.table.filter.value ? path : "");
  }

  connect(port) {
    this.port = port;
    clearInterval(this.timer);
    if (port) {
      const self = new WeakRef(this);
      const timer = setInterval(() => {
        const view = self.deref();
        if (!view) clearInterval(timer);
        else if (view.root.isConnected) view.tick();
      }, 1000);
      this.timer = timer;
    }
    this.draw([]);
  }

  tick() {
    if (this.isSettled || this.state.lost) return;
    this.header.tick(this.state, this.now());
    this.graph.tick(this.state, this.now());
  }

  /** @param {{changes: object, now: number}} message */
  takeBatch({ changes, now }) {
    this.offset = Date.now() / 1000 - now;
    const isGap = this.state.apply(changes);
    this.draw(changes.rows ?? []);
    return isGap;
  }

  takeSnapshot({ snapshot, now }) {
    if (snapshot.seq < this.state.seq) return;
    this.offset = Date.now() / 1000 - now;
    this.state.reset(snapshot);
    this.draw();
  }

  showErrors({ key, errors }) {
    const form = this.side.forms.get(key);
    if (form?.isBusy) form.showErrors(errors); // another copy of the view may have sent the answer
  }
}
