/** When each node run was at work, waited for a person and waited to try again, as bars; long pauses are cut short. */

import { button, html, visible } from "./elements.js";
import { parts } from "./past.js";
import { duration } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const LINE_PX = 22;
const HEAD_PX = 24;
const BARS_SPARE = 10;
const PAUSE_PX = 26;

function svg(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = visible(text);
  return element;
}

export class Timeline {
  constructor(pick, point) {
    this.name = "Timeline";
    this.pick = pick;
    this.point = point;
    this.closed = new Set();
    this.until = null;
    const key = (kind, text) => html("span", `adknb-run-key adknb-run-key-${kind}`, text);
    this.tools = [key("busy", "busy"), key("wait", "waiting for a person"), key("retry", "waiting to try again")];
    this.canvas = svg("svg", { class: "adknb-run-bars", role: "img" });
    this.names = html("div", "adknb-run-barnames");
    this.inner = html("div", "adknb-run-timeline", this.names, this.canvas);
    this.note = html("div", "adknb-run-note");
    this.element = html("div", "adknb-run-panel", this.inner, this.note);
    this.element.tabIndex = 0;
    this.element.addEventListener("scroll", () => this.paint());
    new ResizeObserver(() => this.paint()).observe(this.element);
  }

  draw(state, port, now) {
    this.now = now;
    this.state = state;
    const runs = [...state.spans.values()].map(parts);
    // Children stand below their parent, in the order in which they started.
    const below = new Map();
    const paths = new Set(runs.map((run) => run.path));
    for (const run of runs) {
      const above = run.path.slice(0, Math.max(0, run.path.lastIndexOf("/")));
      const parent = paths.has(above) ? above : "";
      below.set(parent, [...(below.get(parent) ?? []), run]);
    }
    this.runs = [];
    const walk = (path, depth) => {
      for (const run of (below.get(path) ?? []).sort((a, b) => a.start - b.start)) {
        this.runs.push({ ...run, depth, hasChildren: below.has(run.path) });
        if (!this.closed.has(run.path)) walk(run.path, depth + 1);
      }
    };
    walk("", 0);
    this.measure(runs);
    const left = state.rowCount && !runs.length;
    this.note.textContent = runs.length ? "" : left ? "No times are known of this run." : "Nothing has run yet.";
    this.paint();
  }

  /** The pieces of time in which something happened; a pause between two is drawn short. */
  measure(runs) {
    const end = this.now ?? Math.max(0, ...runs.flatMap((run) => [run.start, ...run.tries.map((one) => one[1] ?? 0)]));
    const busy = runs.flatMap((run) => run.tries.map(([from, to]) => [from, Math.max(from, to ?? end)]));
    busy.sort((a, b) => a[0] - b[0]);
    const pieces = [];
    for (const [from, to] of busy) {
      const last = pieces.at(-1);
      if (last && from <= last[1]) last[1] = Math.max(last[1], to);
      else pieces.push([from, to]);
    }
    const work = pieces.reduce((sum, [from, to]) => sum + to - from, 0);
    this.pieces = [];
    for (const piece of pieces) {
      const last = this.pieces.at(-1);
      if (last && piece[0] - last[1] <= Math.max(work * 0.5, 1e-4)) last[1] = Math.max(last[1], piece[1]);
      else this.pieces.push([...piece]);
    }
    this.end = end;
  }

  /** Where a time stands between 0 and the width. */
  scale(width) {
    const pauses = Math.max(0, this.pieces.length - 1) * PAUSE_PX;
    const work = this.pieces.reduce((sum, [from, to]) => sum + to - from, 0) || 1e-6;
    const each = Math.max(10, width - pauses) / work;
    return (time) => {
      let x = 0;
      for (const [index, [from, to]] of this.pieces.entries()) {
        if (time <= from) {
          const before = this.pieces[index - 1];
          if (!before) return x;
          const share = (time - before[1]) / (from - before[1]);
          return x - PAUSE_PX * (1 - Math.max(0, Math.min(1, share)));
        }
        if (time <= to) return x + (time - from) * each;
        x += (to - from) * each + PAUSE_PX;
      }
      return x - PAUSE_PX;
    };
  }

  paint() {
    if (!this.runs || this.element.hidden || !this.element.clientWidth) return;
    const height = HEAD_PX + this.runs.length * LINE_PX;
    this.inner.style.height = `${height}px`;
    const width = Math.max(120, this.canvas.clientWidth || this.canvas.getBoundingClientRect().width);
    const x = this.scale(width - 12);
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor((scrollTop - HEAD_PX) / LINE_PX) - BARS_SPARE);
    const last = Math.min(this.runs.length, Math.ceil((scrollTop + clientHeight) / LINE_PX) + BARS_SPARE);
    this.canvas.setAttribute("aria-label", `Times of ${this.runs.length} node runs`);
    const groups = [];
    const names = [];
    for (let index = first; index < last; index += 1) {
      const run = this.runs[index];
      const top = HEAD_PX + index * LINE_PX;
      groups.push(this.bars(run, top, x));
      names.push(this.nameOf(run, top));
    }
    this.canvas.replaceChildren(...this.marks(x, width, height), ...groups);
    this.names.replaceChildren(...names);
  }

  nameOf(run, top) {
    const [name, id] = run.path.split("/").pop().split("@");
    const line = html("div", "adknb-run-barname");
    line.style.top = `${top}px`;
    line.style.paddingInlineStart = `${6 + Math.min(run.depth, 8) * 12}px`;
    if (run.hasChildren) {
      const isClosed = this.closed.has(run.path);
      const fold = button(isClosed ? "▸" : "▾", "adknb-run-fold", () => {
        if (!this.closed.delete(run.path)) this.closed.add(run.path);
        this.draw(this.state, null, this.now);
      });
      fold.setAttribute("aria-expanded", String(!isClosed));
      fold.setAttribute("aria-label", `What ran inside ${visible(name)}`);
      line.append(fold);
    }
    const word = button("", "adknb-run-link", () => this.pick(run.place));
    // An id that somebody reads is a number or a short word; a tool call's is neither.
    word.append(html("span", "", id && id !== "1" && id.length < 12 ? `${name} ${id}` : name));
    line.append(word);
    line.title = visible(run.path);
    line.addEventListener("pointerenter", () => this.point(run.place));
    line.addEventListener("pointerleave", () => this.point(""));
    return line;
  }

  bars(run, top, x) {
    const group = svg("g", { class: "adknb-run-bargroup", "data-status": run.status });
    const bar = (kind, from, to) => {
      const left = x(from);
      const wide = Math.max(kind === "busy" ? 2.5 : 1, x(to) - left);
      const one = svg("rect", { class: `adknb-run-bar-${kind}`, x: left, y: top + 5, width: wide, height: LINE_PX - 10, rx: 2.5 });
      const words = { busy: "busy", wait: "waiting for a person", retry: "waiting to try again" }[kind];
      one.append(svg("title", {}, `${run.path.split("/").pop()}: ${words} ${duration(Math.max(0, to - from))}`));
      group.append(one);
    };
    run.tries.forEach(([from, to, error, again], index) => {
      const next = run.tries[index + 1]?.[0];
      if (again !== null) bar("retry", to, next ?? Math.min(again, this.end));
      bar(error ? "failed" : run.hasChildren ? "around" : "busy", from, to ?? this.end);
    });
    for (const [asked, answered] of run.waits) bar("wait", asked, answered ?? this.end);
    return group;
  }

  /** Lines at the ends of each piece of time with the time since the start, pauses, and where the replay stands. */
  marks(x, width, height) {
    const start = this.pieces[0]?.[0] ?? 0;
    const found = [];
    let free = -1e9;
    this.pieces.forEach(([from, to], index) => {
      const before = this.pieces[index - 1];
      if (before) {
        const left = x(before[1]);
        found.push(svg("rect", { class: "adknb-run-pause", x: left + 3, y: 0, width: PAUSE_PX - 6, height }));
        found.at(-1).append(svg("title", {}, `pause of ${duration(from - before[1])}`));
      }
      const { times, step } = ticks(from, to, start, Math.max(1, Math.floor((x(to) - x(from)) / 90)));
      for (const time of times) {
        const at = x(time);
        found.push(svg("line", { class: "adknb-run-tick", x1: at, x2: at, y1: HEAD_PX - 4, y2: height }));
        if (at < free || at > width - 30) continue;
        free = at + 60;
        found.push(svg("text", { class: "adknb-run-ticktext", x: at + 2, y: 13 }, time === start ? "0" : tickText(time - start, step)));
      }
    });
    if (this.until !== null) {
      const at = x(this.until);
      found.push(svg("line", { class: "adknb-run-now", x1: at, x2: at, y1: 0, y2: height }));
    }
    return found;
  }
}

/** Round times inside a piece, at most so many. */
function ticks(from, to, start, most) {
  const raw = (to - from) / most || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const found = [from];
  for (let time = start + Math.ceil((from - start) / step + 1e-9) * step; time < to; time += step) found.push(time);
  return { times: found.slice(0, most + 1), step };
}

function tickText(seconds, step) {
  if (seconds >= 60) return duration(seconds);
  const isShort = seconds < 1 && step < 0.1;
  const digits = Math.max(0, -Math.floor(Math.log10(step * (isShort ? 1000 : 1)) + 1e-9));
  return isShort ? `${(seconds * 1000).toFixed(Math.min(2, digits))} ms` : `${seconds.toFixed(Math.min(4, digits))} s`;
}
