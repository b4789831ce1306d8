/** The status line. */

import { button, html, visible } from "./elements.js";
import { count, duration, money } from "./words.js";

const STATUS_WORDS = { waiting: "waiting for you", stopped: "stopped at a limit" };

export class Header {
  constructor(stop) {
    this.pillText = html("span");
    this.pill = html("span", "adknb-run-pill", html("i", "adknb-run-dot"), this.pillText);
    this.pill.setAttribute("role", "status");
    this.name = html("b");
    this.times = html("span", "adknb-run-num");
    this.counts = html("span", "adknb-run-num adknb-run-counts");
    this.progress = html("progress", "adknb-run-progress");
    this.stop = button("Stop", "", () => {
      this.stop.disabled = true;
      this.stop.textContent = "Stopping …";
      stop();
    });
    this.element = html("div", "adknb-run-bar", this.pill, this.name, this.times, this.progress, this.counts, this.stop);
  }

  draw(state, isLive) {
    const { header } = state;
    const word = state.lost || (STATUS_WORDS[header.status] ?? header.status);
    // Written only when it changes: a screen reader speaks every change.
    if (this.pillText.textContent !== word) this.pillText.textContent = word;
    this.pill.dataset.status = state.lost ? "lost" : header.status;
    this.name.textContent = visible(header.name);
    const calls = [];
    if (header.model_calls) calls.push(count(header.model_calls, "model call"));
    if (header.tokens) calls.push(count(header.tokens, "token"));
    if (header.money !== null && header.money !== undefined) calls.push(money(header.money));
    this.counts.replaceChildren(...calls.map((text) => html("span", "", text)));
    const isAtWork = header.status === "running" && !state.lost;
    this.progress.hidden = !isAtWork || !header.progress;
    if (header.progress) {
      [this.progress.value, this.progress.max] = header.progress;
      this.progress.title = `${header.progress[0].toLocaleString("en")} of ${header.progress[1].toLocaleString("en")} done`;
      this.progress.setAttribute("aria-label", this.progress.title);
    }
    if (!["running", "waiting"].includes(header.status) || this.status !== header.status) {
      this.stop.disabled = false;
      this.stop.textContent = "Stop";
    }
    this.status = header.status;
    this.stop.hidden = !isLive || state.lost || !["running", "waiting"].includes(header.status);
  }

  tick(state, now) {
    const { header } = state;
    const on = header.since === null || now === null ? 0 : Math.max(0, now - header.since);
    const busy = header.busy_s + (header.status === "running" ? on : 0);
    const waiting = header.waiting_s + (header.status === "waiting" ? on : 0);
    const id = header.run_id ? `run ${header.run_id.replace(/^e-/, "").slice(0, 6)}` : "";
    const parts = [id, `${duration(busy)} busy`, waiting >= 0.05 ? `${duration(waiting)} waiting` : ""];
    this.times.textContent = parts.filter(Boolean).join(" · ");
    this.times.title = [header.run_id && `run ${header.run_id}`, header.session_id && `session ${header.session_id}`]
      .filter(Boolean)
      .join("\n");
  }
}
