/** The calls of models: who asked which one, and what it took. */

import { html } from "./elements.js";

export class Calls {
  constructor() {
    this.name = "Calls";
    this.tools = [];
    this.until = null;
    this.element = html("div", "adknb-run-panel");
    this.element.tabIndex = 0;
  }

  draw(state, port) {
    const fits = (row) => row[5] !== null && (this.until === null || row[1] <= this.until);
    const rows = [...state.rows.values()].filter(fits).sort((a, b) => a[0] - b[0]).slice(-300);
    state.need(rows.map((row) => row[0]), port);
    const names = ["event", "agent", "model", "sent", "cached", "received", "thinking", "what came back"];
    const head = html("tr", "", ...names.map((name, index) => html("th", [0, 3, 4, 5, 6].includes(index) ? "adknb-run-r" : "", name)));
    const lines = rows.map((row) => {
      const event = state.details.get(row[0]);
      const usage = event?.usage_metadata ?? {};
      const number = (value) => html("td", "adknb-run-r", value ? value.toLocaleString("en") : "");
      return html(
        "tr",
        "",
        html("td", "adknb-run-r", String(row[0])),
        html("td", "", row[2]),
        html("td", "", event?.model_version ?? ""),
        number(usage.prompt_token_count),
        number(usage.cached_content_token_count),
        number(usage.candidates_token_count),
        number(usage.thoughts_token_count),
        html("td", "adknb-run-w", row[6] ? html("code", "", row[4]) : row[4]),
      );
    });
    const note = html("p", "adknb-run-note", "run.calls_frame() has each request and reply, with times and prices.");
    if (!lines.length) this.element.replaceChildren(html("p", "adknb-run-note", "No model was called."));
    else this.element.replaceChildren(html("table", "", html("thead", "", head), html("tbody", "", ...lines)), note);
  }
}
