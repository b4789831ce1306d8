/** The calls of models: who asked which one, what it took and what it cost, and their sum. */

import { html } from "./elements.js";
import { duration, money } from "./words.js";

const CALLS_DRAWN = 300;
const HEADS = ["event", "agent", "model", "time", "sent", "cached", "received", "thinking", "cost", "what came back"];
const RIGHT = [0, 3, 4, 5, 6, 7, 8];

export class Calls {
  constructor() {
    this.name = "Calls";
    this.tools = [];
    this.until = null;
    this.element = html("div", "adknb-run-panel");
    this.element.tabIndex = 0;
  }

  draw(state) {
    const first = state.header.first_event ?? 0;
    const all = [...state.calls.values()].filter((call) => this.until === null || call[2] - first <= this.until);
    if (!all.length) {
      this.element.replaceChildren(html("p", "adknb-run-note", "No model was called."));
      return;
    }
    const cells = (texts, tag = "td") => texts.map((text, index) => html(tag, RIGHT.includes(index) ? "adknb-run-r" : "", text));
    const count = (number) => (number ? number.toLocaleString("en") : "");
    const cost = (dollars) => (dollars === null ? "unknown" : money(dollars));
    const lines = all.slice(-CALLS_DRAWN).map(([, number, , , agent, model, took, sent, cached, received, thought, dollars]) => {
      const row = state.rows.get(number);
      const time = took === null ? "" : duration(took);
      const texts = [String(number), agent, model ?? "", time, count(sent), count(cached), count(received), count(thought), cost(dollars)];
      const said = row ? html("td", "adknb-run-w", row[6] ? html("code", "", row[4]) : row[4]) : html("td", "", "");
      return html("tr", "", ...cells(texts), said);
    });
    const sum = (at) => all.reduce((total, call) => total + (call[at] ?? 0), 0);
    const isKnown = all.every((call) => call[11] !== null);
    const times = sum(6);
    const total = ["", `${all.length.toLocaleString("en")} calls`, "", times ? duration(times) : "", count(sum(7)), count(sum(8)), count(sum(9)), count(sum(10)), isKnown ? money(sum(11)) : "unknown"];
    const foot = html("tr", "adknb-run-total", ...cells(total), html("td", "", ""));
    const note = html("p", "adknb-run-note", "run.calls_frame() has each request and reply, and how much of it was sent before.");
    const head = html("thead", "", html("tr", "", ...cells(HEADS, "th")));
    const parts = [html("table", "", head, html("tbody", "", ...lines), html("tfoot", "", foot)), note];
    if (all.length > CALLS_DRAWN) parts.unshift(html("p", "adknb-run-note", `The last ${CALLS_DRAWN} of ${all.length.toLocaleString("en")} calls.`));
    this.element.replaceChildren(...parts);
  }
}
