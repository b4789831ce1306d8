/** One run on a page: status line, graph, what is asked and what came of it, tabs. */

import { Calls } from "./calls.js";
import { html, keepKeys } from "./elements.js";
import { GraphPane } from "./graph.js";
import { Header } from "./header.js";
import { Log } from "./log.js";
import { Messages } from "./messages.js";
import { stateAt } from "./past.js";
import { Scrubber } from "./scrubber.js";
import { SidePane, warningView } from "./side.js";
import { RunState } from "./state.js";
import { StateTab } from "./state_tab.js";
import { EventTable } from "./table.js";
import { Tabs } from "./tabs.js";
import { Timeline } from "./timeline.js";

/** Pixels that what is asked takes beside the graph, see `panes.css`. */
const sideWidth = (room) => Math.min(Math.max(290, 0.35 * room), 400);

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
    const pick = (place) => this.pick(place);
    const point = (place) => this.point(place);
    this.graph = new GraphPane(svg, snapshot.folded ?? {}, pick, point, outline);
    this.graph.resized = () => this.arrange();
    this.side = new SidePane();
    this.scrubber = new Scrubber((moment) => this.showMoment(moment));
    this.moment = null;
    this.table = new EventTable((place) => this.graph.select(place), point);
    this.timeline = new Timeline(pick, point);
    this.stateTab = new StateTab();
    this.messages = new Messages();
    this.calls = new Calls();
    this.log = new Log(pick);
    this.panels = [this.table, this.timeline, this.stateTab, this.messages, this.calls, this.log];
    this.tabs = new Tabs(this.panels, () => this.drawPanel());
    this.notes = html("div", "adknb-run-warnings");
    this.main = html("div", "adknb-run-main", this.graph.element, this.side.element);
    const sheet = styles ? [html("style", "", styles)] : [];
    const parts = [this.header.element, this.main, this.notes, this.scrubber.element, this.tabs.bar, this.tabs.body];
    root.replaceChildren(...sheet, ...parts);
    keepKeys(root);
    new ResizeObserver(() => this.arrange()).observe(this.main);
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
    this.scrubber.draw(state, this.isSettled || !this.port);
    this.drawGraph();
    this.side.draw(state, this.port, this.isSettled);
    this.graph.element.hidden = this.graph.isEmpty;
    this.main.hidden = this.graph.element.hidden && this.side.element.hidden;
    this.arrange();
    this.drawPanel(rows);
    this.drawNotes();
  }

  /** Put what is asked beside the graph where both can be read, else below it. */
  arrange() {
    const both = !this.side.element.hidden && !this.graph.element.hidden;
    const room = this.main.clientWidth;
    this.main.classList.toggle("adknb-run-two", both && (!room || room >= this.graph.leastWidth + sideWidth(room) + 30));
  }

  drawGraph() {
    const { state, moment } = this;
    this.graph.draw(moment ? stateAt(state, moment.time) : state, moment ? null : this.now(), state.nodes);
  }

  /** Draw the tab in front; the others are drawn when they come to the front. */
  drawPanel(rows) {
    const { state } = this;
    const names = ["Events", "Timeline", "State", "Messages", "Calls", "Log"];
    const changed = this.stateTab.steps(state).length;
    const numbers = [state.header.events, 0, changed, 0, state.header.model_calls, state.log.size];
    this.tabs.call(names.map((name, index) => (numbers[index] ? `${name} ${numbers[index].toLocaleString("en")}` : name)));
    this.tabs.buttons[4].hidden = !state.header.model_calls;
    this.tabs.buttons[5].hidden = !state.log.size;
    this.tabs.panel.draw(state, this.port, this.tabs.panel === this.table ? rows : this.now());
  }

  /** Show the run as it stood at a moment, with nothing as it is now. */
  showMoment(moment) {
    this.moment = moment;
    const first = this.state.header.first_event ?? 0;
    for (const panel of this.panels) panel.until = moment && moment.time - first + 0.00006;
    this.timeline.until = moment && moment.time;
    this.root.classList.toggle("adknb-run-past", Boolean(moment));
    this.drawGraph();
    this.drawPanel();
    this.graph.select(moment?.place ?? "");
  }

  /** A node or a row is pointed at: the others that belong to it stand out. */
  point(place) {
    this.graph.pointAt(place);
    this.table.pointAt(place);
  }

  drawNotes() {
    const { warnings } = this.state;
    if (this.warned !== warnings) {
      this.warned = warnings;
      this.notes.replaceChildren(...warnings.map(warningView));
    }
    this.notes.hidden = warnings.length === 0;
  }

  /** A node was chosen: only its rows are shown; chosen again, all are. */
  pick(path) {
    const place = this.table.place === path ? null : path;
    this.table.only(place);
    this.graph.select(place ?? "");
    if (this.tabs.panel !== this.table && place !== null) this.tabs.choose(0);
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
      this.askForRows();
    }
    this.draw([]);
  }

  tick() {
    if (this.isSettled || this.state.lost) return;
    this.header.tick(this.state, this.now());
    this.graph.tick(this.state, this.now());
    if (this.tabs.panel === this.timeline) this.timeline.draw(this.state, this.port, this.now());
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
    this.askForRows();
  }

  takeAnswer(message) {
    if (message.kind === "rows") this.takeRows(message);
    else if (message.kind === "details") this.takeDetails(message);
    else if (message.kind === "errors") this.showErrors(message);
  }

  takeRows({ rows }) {
    this.state.takeRows(rows);
    this.askForRows();
    this.drawPanel();
  }

  /** A kernel tells the rows before the newest ones when it is asked. */
  askForRows() {
    const before = this.state.missingBefore;
    if (this.port && before !== null && before !== this.askedBefore) {
      this.askedBefore = before;
      this.port.send({ kind: "rows", before });
    }
  }

  takeDetails({ details }) {
    this.state.takeDetails(details);
    this.drawPanel();
  }

  showErrors({ key, errors }) {
    const form = this.side.forms.get(key);
    if (form?.isBusy) form.showErrors(errors); // another copy of the view may have sent the answer
  }
}
