/** Plays a run back that is over: a slider over everything that happened, steps, and a button that goes through them. */

import { button, html } from "./elements.js";
import { momentsOf } from "./past.js";
import { duration } from "./words.js";

const STEP_MS = 350;
const LONGEST_MS = 20_000;

export class Scrubber {
  /** @param {(moment: ?object, index: number) => void} show shows the run at a moment, with nothing as it is */
  constructor(show) {
    this.show = show;
    this.moments = [];
    this.at = 0;
    this.timer = null;
    this.back = this.tool("◀", "Step back", () => this.go(this.at - 1));
    this.play = this.tool("▶ replay", "Play the run back", () => (this.timer ? this.pause() : this.start()));
    this.next = this.tool("▶", "Step forward", () => this.go(this.at + 1));
    this.range = html("input", "adknb-run-range");
    this.range.type = "range";
    this.range.min = "0";
    this.range.setAttribute("aria-label", "Step of the run");
    this.range.addEventListener("input", () => {
      this.pause();
      this.go(Number(this.range.value));
    });
    this.text = html("span", "adknb-run-step adknb-run-num");
    this.element = html("div", "adknb-run-scrub", this.back, this.play, this.next, this.range, this.text);
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "Play back");
  }

  tool(label, name, act) {
    const made = button(label, "adknb-run-quiet adknb-run-small", act);
    made.setAttribute("aria-label", name);
    made.title = name;
    return made;
  }

  /** @param {boolean} isOver only a run that isn't at work can be played back */
  draw(state, isOver) {
    const key = isOver ? `${state.seq} ${state.spans.size} ${state.rows.size}` : "";
    if (key === this.key) return;
    this.key = key;
    this.pause();
    if (this.isBack) this.show(null, 0);
    this.moments = isOver && state.spans.size ? momentsOf(state) : [];
    this.element.hidden = this.moments.length < 2;
    this.at = Math.max(0, this.moments.length - 1);
    this.range.max = String(this.at);
    this.say();
  }

  get isBack() {
    return this.at < this.moments.length - 1;
  }

  go(index) {
    this.at = Math.min(Math.max(0, index), this.moments.length - 1);
    this.say();
    this.show(this.isBack ? this.moments[this.at] : null, this.at);
  }

  say() {
    this.range.value = String(this.at);
    const moment = this.moments[this.at];
    this.back.disabled = this.at === 0;
    this.next.disabled = !this.isBack;
    if (!moment) return;
    const since = duration(Math.max(0, moment.time - this.moments[0].time));
    const what = moment.texts.length > 1 ? `${moment.texts[0]} …` : moment.texts[0];
    const number = `${(this.at + 1).toLocaleString("en")} of ${this.moments.length.toLocaleString("en")}`;
    this.text.replaceChildren(html("span", "", this.isBack ? `${number} · ${since} · ${what}` : `step ${number}`));
    this.text.title = moment.texts.join("\n");
    this.range.setAttribute("aria-valuetext", `step ${number}, ${what}`);
  }

  start() {
    if (!this.isBack) this.go(0);
    this.play.textContent = "❚❚ pause";
    const pace = Math.max(STEP_MS * 0.1, Math.min(STEP_MS, LONGEST_MS / this.moments.length));
    const stride = Math.max(1, Math.ceil((this.moments.length * pace) / LONGEST_MS));
    this.timer = setInterval(() => {
      if (!this.element.isConnected) return this.pause();
      this.go(this.at + stride);
      if (!this.isBack) this.pause();
    }, pace);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "▶ replay";
  }
}
