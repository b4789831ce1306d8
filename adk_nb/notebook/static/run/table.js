/** The event table: rows are added or replaced, never all redrawn. */

import { html, visible } from "./elements.js";
import { count } from "./words.js";

const ROWS_DRAWN = 500;

export class EventTable {
  constructor(pick) {
    this.pick = pick;
    this.drawn = new Map();
    this.follows = true;
    this.tab = html("button", "adknb-run-tab", "Events");
    this.tab.type = "button";
    this.tab.setAttribute("role", "tab");
    this.tab.setAttribute("aria-selected", "true");
    this.filter = html("input", "adknb-run-filter");
    this.filter.type = "search";
    this.filter.placeholder = "⌕ filter";
    this.filter.setAttribute("aria-label", "Filter events");
    this.followBox = html("input");
    this.followBox.type = "checkbox";
    this.followBox.checked = true;
    const follow = html("label", "adknb-run-follow", this.followBox, "follow");
    const list = html("div", "", this.tab);
    list.setAttribute("role", "tablist");
    this.tabs = html("div", "adknb-run-tabs", list, this.filter, follow);
    this.body = html("tbody");
    this.note = html("div", "adknb-run-note");
    const head = html("tr");
    for (const [name, side] of COLUMNS) head.append(html("th", side, name));
    this.scroller = html("div", "adknb-run-scroll", html("table", "", html("thead", "", head), this.body), this.note);
    this.scroller.tabIndex = 0;
    this.scroller.setAttribute("role", "tabpanel");
    this.scroller.setAttribute("aria-label", "Events");
    this.filter.addEventListener("input", () => this.redraw());
    this.followBox.addEventListener("change", () => this.followBox.checked && this.toEnd());
    // Scrolling up by hand stops following, scrolling to the end takes it up again.
    this.scroller.addEventListener("scroll", () => {
      const { scrollTop, scrollHeight, clientHeight } = this.scroller;
      this.followBox.checked = scrollTop + clientHeight >= scrollHeight - 8;
    });
  }

  /** @param {Array[]} [changed] rows to add or replace; all without. */
  draw(state, changed) {
    this.state = state;
    this.tab.textContent = `Events ${state.header.events.toLocaleString("en")}`;
    if (!changed) return this.redraw();
    const isFollowing = this.followBox.checked;
    const words = this.words();
    for (const row of [...changed].sort((a, b) => a[0] - b[0]).slice(-ROWS_DRAWN)) {
      const old = this.drawn.get(row[0]);
      if (!matches(row, words)) {
        old?.remove();
        this.drawn.delete(row[0]);
      } else if (old) {
        fillRow(old, row);
      } else {
        this.insert(row);
      }
    }
    this.trim();
    if (isFollowing) this.toEnd();
  }

  redraw() {
    const words = this.words();
    const fitting = [...this.state.rows.values()].filter((row) => matches(row, words));
    fitting.sort((a, b) => a[0] - b[0]);
    this.body.replaceChildren();
    this.drawn.clear();
    for (const row of fitting.slice(-ROWS_DRAWN)) this.insert(row);
    this.trim(fitting.length);
    if (this.followBox.checked) this.toEnd();
  }

  words() {
    return this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  }

  insert(row) {
    const line = html("tr");
    for (const [, side] of COLUMNS) line.append(html("td", side));
    fillRow(line, row);
    line.addEventListener("click", () => this.choose(line));
    line.adknbNumber = row[0];
    let before = null;
    // Nearly always the newest; a row that a gap had left out goes to its place.
    for (let last = this.body.lastElementChild; last && last.adknbNumber > row[0]; last = last.previousElementSibling) {
      before = last;
    }
    this.body.insertBefore(line, before);
    this.drawn.set(row[0], line);
  }

  trim(fitting = 0) {
    while (this.body.childElementCount > ROWS_DRAWN) {
      this.drawn.delete(this.body.firstElementChild.adknbNumber);
      this.body.firstElementChild.remove();
    }
    const isFiltered = this.words().length > 0;
    const hidden = (this.state.row_count ?? 0) || Math.max(0, ...this.state.rows.keys());
    const left = hidden - this.body.childElementCount;
    if (isFiltered) this.note.textContent = this.body.childElementCount ? "" : "No event fits the filter.";
    else if (!hidden) this.note.textContent = "No events yet.";
    else this.note.textContent = left > 0 ? `${count(left, "earlier row")} in run.events_frame()` : "";
  }

  choose(line) {
    const wasChosen = line.classList.contains("adknb-run-chosen");
    for (const one of this.body.querySelectorAll(".adknb-run-chosen")) one.classList.remove("adknb-run-chosen");
    line.classList.toggle("adknb-run-chosen", !wasChosen);
    this.pick(wasChosen ? "" : line.adknbPath);
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
}

const COLUMNS = [
  ["#", "adknb-run-r"],
  ["s", "adknb-run-r"],
  ["node", ""],
  ["kind", ""],
  ["what", "adknb-run-w"],
  ["tokens", "adknb-run-r"],
];

function matches(row, words) {
  if (!words.length) return true;
  const text = `${row[2]} ${row[3]} ${row[4]}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function fillRow(line, [number, seconds, node, kind, what, tokens, isData, path]) {
  const [c0, c1, c2, c3, c4, c5] = line.children;
  c0.textContent = number;
  c1.textContent = seconds.toFixed(2);
  c2.textContent = visible(node);
  const mark = html("span", "adknb-run-kind", kind);
  mark.dataset.kind = kind.split(" ")[0];
  c3.replaceChildren(mark);
  c4.replaceChildren(isData ? html("code", "", what) : html("bdi", "", what));
  c4.title = visible(what);
  c5.textContent = tokens === null ? "" : tokens.toLocaleString("en");
  line.adknbPath = path;
}
