/** The event table: only the rows in sight are in the page, however many there are. */

import { button, html, visible } from "./elements.js";
import { copyButton, treeView } from "./tree.js";
import { count } from "./words.js";

const ROW_PX = 27;
const SPARE = 8;
const PINS = 5;
const COLUMNS = [
  ["#", "adknb-run-r"],
  ["s", "adknb-run-r"],
  ["node", ""],
  ["kind", ""],
  ["what", "adknb-run-w"],
  ["tokens", "adknb-run-r"],
];

export class EventTable {
  /** @param {(place: string) => void} pick a row was chosen @param {(place: string) => void} point one is pointed at */
  constructor(pick, point) {
    this.name = "Events";
    this.pick = pick;
    this.sort = [0, 1];
    this.place = null;
    this.pins = new Set();
    this.chosen = null;
    this.until = null;
    this.fitting = [];
    this.filter = html("input", "adknb-run-filter");
    this.filter.type = "search";
    this.filter.placeholder = "⌕ filter";
    this.filter.setAttribute("aria-label", "Filter events");
    this.filter.addEventListener("input", () => this.redraw());
    this.followBox = html("input");
    this.followBox.type = "checkbox";
    this.followBox.checked = true;
    this.followBox.addEventListener("change", () => this.followBox.checked && this.toEnd());
    this.chip = button("", "adknb-run-chip adknb-run-on", () => this.only(null));
    this.chip.hidden = true;
    const copy = copyButton("copy", () => this.asText());
    copy.title = "Copy these rows as a table";
    const follow = html("label", "adknb-run-follow", this.followBox, "follow");
    this.tools = [this.chip, this.filter, copy, follow];
    this.build(point);
  }

  build(point) {
    this.heads = COLUMNS.map(([name], index) => {
      const made = button(name, "adknb-run-head", () => this.sortBy(index));
      made.title = `Sort by ${name}`;
      return made;
    });
    const head = html("tr", "", ...COLUMNS.map(([, side], index) => html("th", side, this.heads[index])));
    const widths = html("colgroup", "", ...COLUMNS.map((_, index) => html("col", `adknb-run-col${index}`)));
    this.body = html("tbody");
    this.table = html("table", "adknb-run-events", widths, html("thead", "", head), this.body);
    this.note = html("div", "adknb-run-note");
    this.scroller = html("div", "adknb-run-scroll", this.table, this.note);
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "group");
    this.scroller.setAttribute("aria-label", "Events; arrow keys choose a row, Escape none, p pins it");
    this.whole = html("div", "adknb-run-whole");
    this.whole.hidden = true;
    this.element = html("div", "", this.scroller, this.whole);
    // Scrolling up by hand stops following, scrolling to the end takes it up again.
    this.scroller.addEventListener("scroll", () => {
      const { scrollTop, scrollHeight, clientHeight } = this.scroller;
      this.followBox.checked = scrollTop + clientHeight >= scrollHeight - 8;
      this.paint();
    });
    this.scroller.addEventListener("keydown", (event) => this.onKey(event));
    this.body.addEventListener("click", (event) => {
      const line = event.target.closest("tr[data-number]");
      if (line) this.choose(Number(line.dataset.number) === this.chosen ? null : Number(line.dataset.number));
    });
    this.body.addEventListener("dblclick", (event) => {
      const line = event.target.closest("tr[data-number]");
      if (line) this.pin(Number(line.dataset.number));
    });
    this.body.addEventListener("pointerover", (event) => point(event.target.closest("tr")?.dataset.place ?? ""));
    this.body.addEventListener("pointerleave", () => point(""));
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 9, PageUp: -9, Home: -1e9, End: 1e9 }[event.key];
    if (event.key === "Escape") this.choose(null);
    else if (event.key === "p" && this.chosen !== null) this.pin(this.chosen);
    else if (step) this.move(step);
    else return;
    event.preventDefault();
  }

  move(step) {
    if (!this.fitting.length) return;
    const from = this.fitting.findIndex((row) => row[0] === this.chosen);
    const start = from < 0 ? (step > 0 ? -1 : this.fitting.length) : from;
    const to = Math.min(Math.max(0, start + step), this.fitting.length - 1);
    this.choose(this.fitting[to][0]);
    const top = to * ROW_PX;
    const room = this.scroller.clientHeight - ROW_PX * (2 + this.pins.size);
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
  }

  sortBy(index) {
    const [by, way] = this.sort;
    this.sort = by === index ? [index, -way] : [index, index === 5 ? -1 : 1];
    this.redraw();
  }

  /** Show the rows of one node and what is inside it, or with `null` all. */
  only(place) {
    this.place = place;
    this.chip.hidden = place === null;
    this.chip.replaceChildren(html("span", "", `${place ?? ""} ✕`));
    this.chip.setAttribute("aria-label", `Only ${place}; show all`);
    this.redraw();
  }

  /** @param {?Array[]} changed rows that are new or changed; all without */
  draw(state, port, changed) {
    this.state = state;
    this.port = port;
    if (changed && changed.length === 0) return;
    this.redraw();
  }

  redraw() {
    if (!this.state || this.element.hidden) return;
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { place, until } = this;
    const fits = (row) =>
      (until === null || row[1] <= until) &&
      (place === null || row[7] === place || row[7].startsWith(`${place}/`)) &&
      (!words.length || matches(row, words));
    this.fitting = [...this.state.rows.values()].filter(fits);
    const [by, way] = this.sort;
    const less = (a, b) => (typeof a === "number" || typeof b === "number" ? (a ?? -1) - (b ?? -1) : a.localeCompare(b));
    this.fitting.sort((a, b) => way * less(a[by], b[by]) || a[0] - b[0]);
    this.heads.forEach((one, index) => {
      const side = index === by ? (way > 0 ? "ascending" : "descending") : "none";
      one.parentElement.setAttribute("aria-sort", side);
    });
    this.table.setAttribute("aria-rowcount", String(this.fitting.length + 1));
    this.say(words.length > 0 || place !== null);
    this.shown = "";
    this.paint();
    if (this.followBox.checked) this.toEnd();
    this.drawWhole();
  }

  say(isFiltered) {
    const left = this.state.rowCount - this.state.rows.size;
    const more = left > 0 ? `${count(left, "earlier row")} in run.events_frame()` : "";
    if (!this.state.rowCount) this.note.textContent = "No events yet.";
    else if (isFiltered && !this.fitting.length) this.note.textContent = "No event fits the filter.";
    else this.note.textContent = more;
  }

  /** Draw the rows in sight. */
  paint() {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / ROW_PX) - SPARE);
    const last = Math.min(this.fitting.length, Math.ceil((scrollTop + (clientHeight || 286)) / ROW_PX) + SPARE);
    const pinned = [...this.pins].map((number) => this.state.rows.get(number)).filter(Boolean);
    const shown = JSON.stringify([first, last, this.fitting.length, this.chosen, [...this.pins]]);
    if (shown === this.shown) return;
    this.shown = shown;
    const lines = pinned.map((row, index) => this.line(row, index));
    lines.push(gap(first * ROW_PX));
    for (let index = first; index < last; index += 1) lines.push(this.line(this.fitting[index], null, index));
    lines.push(gap((this.fitting.length - last) * ROW_PX));
    this.body.replaceChildren(...lines);
  }

  line(row, pinIndex, index = 0) {
    const [number, seconds, node, kind, what, tokens, isData, place] = row;
    const mark = html("span", "adknb-run-kind", kind);
    mark.dataset.kind = kind.split(" ")[0];
    const said = html("td", "adknb-run-w", isData ? html("code", "", what) : html("bdi", "", what));
    said.title = visible(what);
    const line = html(
      "tr",
      "",
      html("td", "adknb-run-r", pinIndex === null ? String(number) : `📌 ${number}`),
      html("td", "adknb-run-r", seconds.toFixed(2)),
      html("td", "", node),
      html("td", "", mark),
      said,
      html("td", "adknb-run-r", tokens === null ? "" : tokens.toLocaleString("en")),
    );
    line.dataset.number = number;
    line.dataset.place = place;
    line.setAttribute("aria-rowindex", String(index + 2));
    line.classList.toggle("adknb-run-chosen", number === this.chosen);
    line.classList.toggle("adknb-run-pointed", this.pointed !== "" && place === this.pointed);
    if (pinIndex !== null) {
      line.classList.add("adknb-run-pinned");
      line.style.setProperty("--adknb-pin", `${(pinIndex + 1) * ROW_PX}px`);
    }
    return line;
  }

  pointed = "";

  /** A node of the picture is pointed at: its rows stand out. */
  pointAt(place) {
    this.pointed = place;
    for (const line of this.body.children) {
      line.classList.toggle("adknb-run-pointed", place !== "" && line.dataset.place === place);
    }
  }

  choose(number) {
    this.chosen = number;
    this.pick(number === null ? "" : (this.state.rows.get(number)?.[7] ?? ""));
    this.paint();
    this.drawWhole();
  }

  pin(number) {
    if (!this.pins.delete(number) && this.pins.size < PINS) this.pins.add(number);
    this.paint();
    this.drawWhole();
  }

  /** The chosen event, whole. */
  drawWhole() {
    const number = this.chosen;
    this.whole.hidden = number === null || !this.state.rows.has(number);
    if (this.whole.hidden) return;
    const missing = this.state.need([number], this.port);
    const key = `${number} ${missing} ${this.pins.has(number)} ${Boolean(this.port)}`;
    if (key === this.wholeKey) return;
    this.wholeKey = missing ? "" : key;
    const event = this.state.details.get(number);
    const pin = button(this.pins.has(number) ? "unpin" : "pin", "adknb-run-quiet adknb-run-small", () => this.pin(number));
    const close = button("✕", "adknb-run-quiet adknb-run-small", () => {
      this.choose(null);
      this.scroller.focus();
    });
    close.setAttribute("aria-label", "Close the event");
    const copy = copyButton("copy", () => JSON.stringify(event, null, 1));
    copy.hidden = missing > 0;
    const bar = html("div", "adknb-run-wholebar", html("b", "", `Event ${number}`), pin, copy, close);
    const none = this.port ? "…" : "This copy doesn't hold the event; run.events has it while its kernel runs.";
    this.whole.replaceChildren(bar, missing ? html("p", "adknb-run-soft", none) : treeView(event));
  }

  /** The rows that fit, as a table for a spreadsheet. */
  asText() {
    const cell = (value) => String(value ?? "").replace(/[\t\n\r]+/g, " ");
    const lines = this.fitting.map((row) => row.slice(0, 6).map(cell).join("\t"));
    return [COLUMNS.map(([name]) => name).join("\t"), ...lines].join("\n");
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.paint();
  }
}

function gap(height) {
  const cell = html("td");
  cell.colSpan = COLUMNS.length;
  const line = html("tr", "adknb-run-gap", cell);
  line.hidden = height <= 0;
  cell.style.height = `${height}px`;
  line.setAttribute("aria-hidden", "true");
  return line;
}

function matches(row, words) {
  const text = `${row[2]} ${row[3]} ${row[4]}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
