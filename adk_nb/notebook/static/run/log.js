/** What the nodes printed, line by line, with the time and the node. */

import { button, html } from "./elements.js";

const LINES_DRAWN = 500;

export class Log {
  /** @param {function(string): void} pick takes the node whose name was clicked */
  constructor(pick) {
    this.name = "Log";
    this.pick = pick;
    this.tools = [];
    this.until = null;
    this.element = html("div", "adknb-run-panel adknb-run-log");
    this.element.tabIndex = 0;
  }

  draw(state) {
    const first = state.header.first_event ?? state.header.started ?? 0;
    const fits = (line) => this.until === null || line[1] - first <= this.until;
    const all = [...state.log.values()].filter(fits).sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    const lines = all.slice(-LINES_DRAWN);
    const shown = JSON.stringify([lines.length, lines.at(-1)?.[0], all.length]);
    if (shown === this.shown) return;
    this.shown = shown;
    const isAtEnd = this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 12;
    const parts = all.length > LINES_DRAWN ? [html("p", "adknb-run-note", `The last ${LINES_DRAWN} of ${all.length.toLocaleString("en")} lines; run.printed has what is kept.`)] : [];
    let before = "";
    for (const [, at, place, text, isError] of lines) {
      const name = button(place === before ? "" : place.split("/").at(-1), "adknb-run-link adknb-run-lognode", () => this.pick(place));
      if (place === before) name.tabIndex = -1;
      name.title = place;
      before = place;
      const seconds = html("span", "adknb-run-logtime", (at - first).toFixed(2));
      parts.push(html("div", "adknb-run-logline", seconds, name, html("span", isError ? "adknb-run-bad adknb-run-code" : "adknb-run-code", text || " ")));
    }
    if (!lines.length) parts.push(html("p", "adknb-run-note", "No node has printed anything."));
    this.element.replaceChildren(...parts);
    if (isAtEnd) this.element.scrollTop = this.element.scrollHeight;
  }
}
