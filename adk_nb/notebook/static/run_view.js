/**
 * The view of one run: header, graph, forms, event table, result.
 *
 * One module, three ways in. `mountCopies` brings the HTML in an output or a page to life with the snapshot inside it.
 * As an anywidget, `initialize` links the kernel's run with every copy on the page by key, so that they move and their
 * forms can be sent; without a kernel the copies show what they were saved with. `render` draws a copy in a widget view,
 * for hosts that keep outputs apart.
 *
 * Kernel to page: the trait `base` (a snapshot) and messages `{kind: "batch", changes, now}`, `{kind: "snapshot", ...}`,
 * `{kind: "errors", key, errors}`. Batches are numbered and hold whole values, so applying one twice is harmless; a gap
 * asks for a snapshot. Page to kernel: `{kind: "snapshot" | "answer" | "stop"}`. The trait `drafts` holds what is typed.
 *
 * Everything that a model, a tool or a person wrote goes through `textContent`.
 *
 * @typedef {{seq: number, header: object, nodes: Object<string, object>, edges: string[][], rows: Array[],
 *   row_count: number, questions: object[], result: ?object, error: ?object, warnings: object[]}} Snapshot
 * @typedef {{send(message: object): void, drafts(): object, draft(key: string, values: ?object): void}} Port
 */

const ROWS_DRAWN = 500;
const ROWS_HELD = 1000;
const NODE_STATES = ["pending", "running", "waiting", "completed", "failed", "cancelled", "incomplete", "gathering", "stopped"];
const UNREACHED = [
  "Not answered yet, and no kernel is linked with this copy. While the kernel that asked is running, ",
  "await run.respond(…)",
  " answers it; after a restart, run the cell again to be asked again.",
];
const LOST =
  "This form can't be sent any more. Run the cell again to be asked again. A run that is kept in a file " +
  "can also be answered from code, with Runner and answer_content.";
const STATUS_WORDS = { waiting: "waiting for you", stopped: "stopped at a limit" };

// Building blocks

/** @param {string} tag @param {string} [name] @param {...(Node|string)} children */
function html(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** A text in which what acts instead of showing (control characters, turned directions) stands as its escape. */
export function visible(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu, (c) => {
    if (c === "\r") return "";
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function button(label, name, act) {
  const element = html("button", name, label);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

export function duration(seconds) {
  if (seconds < 0.0995) {
    const ms = seconds * 1000;
    return `${ms < 0.095 ? ms.toFixed(2) : ms < 9.95 ? ms.toFixed(1) : ms.toFixed(0)} ms`;
  }
  if (seconds < 59.95) return `${seconds < 9.95 ? seconds.toFixed(1) : seconds.toFixed(0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** How long ago, short enough for a node's second line. */
function ago(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  return whole < 3600 ? `${Math.floor(whole / 60)} min` : `${Math.floor(whole / 3600)} h`;
}

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });

/** A value as text: a text as it is, all else as JSON. */
const said = (value) => (typeof value === "string" ? value : spaced(value));

/**
 * Keep what is typed into the view from JupyterLab, which runs the cell on Shift+Enter, deletes it on D D and takes line
 * breaks away. Lab listens in the capture phase, on the document or on the notebook, and passes over keys inside an
 * element with this attribute; the window's capture phase comes before both. Saving stays Lab's.
 */
function keepKeys(root) {
  const mark = (event) => {
    const isSave = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s";
    root.toggleAttribute("data-lm-suppress-shortcuts", !isSave);
  };
  const passBy = (event) => event.inputType === "insertLineBreak" && event.stopPropagation();
  root.addEventListener("focusin", () => {
    window.addEventListener("keydown", mark, true);
    window.addEventListener("beforeinput", passBy, true);
  });
  root.addEventListener("focusout", () => {
    window.removeEventListener("keydown", mark, true);
    window.removeEventListener("beforeinput", passBy, true);
  });
}

// State: a snapshot, and what batches make of it

export class RunState {
  /** @param {Snapshot} snapshot */
  constructor(snapshot) {
    this.reset(snapshot);
  }

  reset(snapshot) {
    this.seq = snapshot.seq;
    this.header = snapshot.header;
    this.nodes = new Map(Object.entries(snapshot.nodes));
    this.edges = new Set(snapshot.edges.map((edge) => JSON.stringify(edge)));
    this.rows = new Map(snapshot.rows.map((row) => [row[0], row]));
    this.questions = new Map(snapshot.questions.map((question) => [question.key, question]));
    this.result = snapshot.result;
    this.error = snapshot.error;
    this.warnings = snapshot.warnings;
  }

  /** Take a batch in; says whether one before it is missing. */
  apply(changes) {
    const isGap = changes.seq > this.seq + 1;
    this.seq = Math.max(this.seq, changes.seq);
    if (changes.header) this.header = changes.header;
    for (const [path, node] of Object.entries(changes.nodes ?? {})) this.nodes.set(path, node);
    for (const edge of changes.edges ?? []) this.edges.add(JSON.stringify(edge));
    for (const row of changes.rows ?? []) this.rows.set(row[0], row);
    const tooMany = this.rows.size - ROWS_HELD;
    if (tooMany > 0) for (const number of [...this.rows.keys()].slice(0, tooMany)) this.rows.delete(number);
    for (const question of changes.questions ?? []) this.questions.set(question.key, question);
    if ("result" in changes) this.result = changes.result;
    if ("error" in changes) this.error = changes.error;
    if (changes.warnings) this.warnings = changes.warnings;
    return isGap;
  }
}

// Header

class Header {
  constructor(stop) {
    this.pillText = html("span");
    this.pill = html("span", "adknb-run-pill", html("i", "adknb-run-dot"), this.pillText);
    this.pill.setAttribute("role", "status");
    this.name = html("b");
    this.times = html("span", "adknb-run-num");
    this.counts = html("span", "adknb-run-num adknb-run-counts");
    this.stop = button("Stop", "", stop);
    this.element = html("div", "adknb-run-bar", this.pill, this.name, this.times, this.counts, this.stop);
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
    this.counts.replaceChildren(...calls.map((text) => html("span", "", text)));
    this.stop.hidden = !isLive || state.lost || !["running", "waiting"].includes(header.status);
  }

  tick(state, now) {
    const { header } = state;
    const on = header.since === null || now === null ? 0 : Math.max(0, now - header.since);
    const busy = header.busy_s + (header.status === "running" ? on : 0);
    const waiting = header.waiting_s + (header.status === "waiting" ? on : 0);
    const id = header.run_id ? `run ${header.run_id.slice(0, 6)}` : "";
    const parts = [id, `${duration(busy)} busy`, waiting >= 0.05 ? `${duration(waiting)} waiting` : ""];
    this.times.textContent = parts.filter(Boolean).join(" · ");
    this.times.title = [header.run_id && `run ${header.run_id}`, header.session_id && `session ${header.session_id}`]
      .filter(Boolean)
      .join("\n");
  }
}

// Graph: drawn once, then only classes and second lines change

class GraphPane {
  /** @param {?SVGElement} svg @param {string} outline what stands here without a picture */
  constructor(svg, pick, outline) {
    this.element = html("div", "adknb-run-graph");
    this.nodes = new Map();
    this.edges = [];
    this.isEmpty = !svg && !outline;
    if (!svg) {
      if (outline) this.element.append(html("pre", "", outline));
      return;
    }
    this.element.append(svg);
    for (const group of svg.querySelectorAll("[data-path]")) {
      const detail = [...group.children].find((child) => child.classList.contains("adknb-detail"));
      const box = [...group.children].find((child) => child.classList.contains("adknb-box"));
      this.nodes.set(group.dataset.path, { group, detail, box, own: detail?.textContent });
      group.addEventListener("click", () => pick(group.dataset.path));
    }
    for (const group of svg.querySelectorAll("[data-source]")) {
      this.edges.push({ group, key: JSON.stringify([group.dataset.source, group.dataset.target]) });
    }
    this.inView = "";
    new ResizeObserver(() => {
      this.inView = "";
      if (this.state) this.follow();
    }).observe(this.element);
    this.starts = [...this.nodes.values()].filter(({ group }) => group.classList.contains("adknb-kind-start"));
  }

  draw(state, now) {
    for (const [path, { group, detail, own, box }] of this.nodes) {
      const node = state.nodes.get(path);
      if (!group.classList.contains("adknb-kind-start")) setState(group, node?.status ?? "pending");
      if (detail) fitText(detail, (node && nodeDetail(node, now)) || own || "", box);
    }
    for (const { group, key } of this.edges) group.classList.toggle("adknb-taken", state.edges.has(key));
    for (const { group } of this.starts ?? []) {
      const isLeft = this.edges.some(
        (edge) => edge.group.dataset.source === group.dataset.path && state.edges.has(edge.key),
      );
      setState(group, isLeft ? "completed" : "pending");
    }
    this.state = state;
    this.follow();
  }

  /** Bring the node that asks or works into view, inside this box only, once each time that it is another one. */
  follow() {
    const { state } = this;
    const inner = (status) => {
      const found = [...this.nodes.keys()].filter((path) => state.nodes.get(path)?.status === status);
      return found.sort((a, b) => b.split("/").length - a.split("/").length)[0];
    };
    const path = inner("waiting") ?? inner("running") ?? inner("failed") ?? "";
    if (!path || path === this.inView || !this.element.clientWidth) return;
    this.inView = path;
    const frame = this.element.getBoundingClientRect();
    const node = this.nodes.get(path).group.getBoundingClientRect();
    for (const [axis, start, end] of [["scrollLeft", "left", "right"], ["scrollTop", "top", "bottom"]]) {
      if (node[start] >= frame[start] && node[end] <= frame[end]) continue;
      this.element[axis] += (node[start] + node[end] - frame[start] - frame[end]) / 2;
    }
  }

  /** Only what time changes. */
  tick(state, now) {
    for (const [path, node] of state.nodes) {
      const drawn = this.nodes.get(path);
      if (drawn?.detail && node.since !== null) fitText(drawn.detail, nodeDetail(node, now), drawn.box);
    }
  }

  select(path) {
    for (const [own, { group }] of this.nodes) group.classList.toggle("adknb-run-chosen", own === path);
  }
}

function setState(group, state) {
  for (const one of NODE_STATES) group.classList.toggle(`adknb-${one}`, one === state);
}

function nodeDetail(node, now) {
  if (node.status === "waiting") {
    return now === null ? `asked at ${clock(node.since)}` : `asked ${ago(now - node.since)} ago`;
  }
  if (node.status === "running" && now !== null && node.since !== null && now - node.since >= 1) {
    return node.detail.replace("running", `running ${ago(now - node.since)}`);
  }
  return node.detail;
}

/** Set a node's second line, shortened to its box. */
function fitText(element, text, box) {
  if (element.dataset.full === text) return;
  element.dataset.full = text;
  text = visible(text);
  element.textContent = text;
  const room = (box?.getBBox?.().width ?? 0) - 50;
  if (room <= 0) return;
  // A part between dots goes as a whole, because a cut number is a wrong one.
  for (let end = text.length; end > 1 && element.getComputedTextLength() > room; ) {
    const dot = text.lastIndexOf(" · ", end - 1);
    end = dot > 0 ? dot : end - 1;
    element.textContent = dot > 0 ? text.slice(0, end) : `${text.slice(0, end).trimEnd()}…`;
  }
}

/** A picture as elements, without anything that could run: it comes from our own drawing, and is cleaned all the same. */
export function parseSvg(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") return null;
  for (const element of [root, ...root.querySelectorAll("*")]) {
    if (["script", "foreignObject", "a", "use", "image"].includes(element.localName)) element.remove();
    for (const { name } of [...element.attributes]) {
      if (/^on|href$/i.test(name)) element.removeAttribute(name);
    }
  }
  return document.importNode(root, true);
}

// Event table: rows are added or replaced, never all redrawn

class EventTable {
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

// Values

/** JSON indented where it doesn't fit on a line. */
function prettyJson(value, indent = "") {
  const flat = JSON.stringify(value);
  if (value === null || typeof value !== "object" || indent.length + flat.length <= 56) return spaced(value);
  const inner = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => inner + prettyJson(item, inner))
    : Object.entries(value).map(([name, item]) => `${inner}${JSON.stringify(name)}: ${prettyJson(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return parts.length ? `${open}\n${parts.join(",\n")}\n${indent}${close}` : open + close;
}

/** The value of a JSON text; where the browser can, no digit of a long number is lost. */
function exactJson(text) {
  const keep = (_, value, context) => (typeof value === "number" ? JSON.rawJSON(context.source) : value);
  return JSON.rawJSON ? JSON.parse(text, keep) : JSON.parse(text);
}

/** JSON on one line, with a space after commas and colons. */
function spaced(value) {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spaced(item)}`).join(", ")}}`;
}

/** Data as rows of names and values, or as text. */
function valueView(value) {
  if (value === null || value === undefined) return html("span", "adknb-run-soft", "null");
  if (Array.isArray(value) || typeof value !== "object") return html("div", "adknb-run-text", said(value));
  const list = html("dl", "adknb-run-kv");
  for (const [name, item] of Object.entries(value)) {
    const isData = typeof item !== "string";
    list.append(html("div", "", html("dt", "", name), html("dd", "", isData ? html("code", "", said(item)) : item)));
  }
  return list;
}

function resultView(result) {
  const box = html("div", "adknb-run-result");
  if (result.kind === "table") box.append(tableView(result.value));
  else if (result.kind === "json") box.append(html("pre", "", prettyJson(result.value)));
  else box.append(html("div", "adknb-run-text", result.value));
  if (result.is_cut) box.append(html("p", "adknb-run-soft", "The beginning; run.output holds all of it."));
  return box;
}

function tableView(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, 30);
  const head = html("tr", "", ...names.map((name) => html("th", "", name)));
  const body = html("tbody");
  for (const row of rows.slice(0, 200)) {
    const cells = names.map((name) => html("td", typeof row[name] === "number" ? "adknb-run-r" : "", name in row ? said(row[name]) : ""));
    body.append(html("tr", "", ...cells));
  }
  const note = rows.length > 200 ? [html("p", "adknb-run-soft", `200 of ${rows.length} rows`)] : [];
  return html("div", "adknb-run-wide", html("table", "", html("thead", "", head), body), ...note);
}

function errorView(error) {
  const where = error.path ? ` in ${error.path.split("/").pop().split("@")[0]}` : "";
  const box = html(
    "div",
    "adknb-run-error",
    html("h4", "", `${error.type}${where}`),
    html("p", "adknb-run-text", error.message ?? ""),
  );
  box.setAttribute("role", "alert");
  if (error.short) box.append(html("pre", "", error.short));
  if (error.full) box.append(html("details", "", html("summary", "", "full traceback"), html("pre", "", error.full)));
  return box;
}

// Forms

// Each output of a page carries this module: ids must differ between them.
const FIELD_IDS = `adknb-field-${Math.random().toString(36).slice(2, 10)}`;
let fieldNumber = 0;

/** The keys of the fields whose values are secrets. */
function secretKeys(fields) {
  return fields.flatMap((one) => (one.kind === "secret" ? [one.key] : secretKeys(one.fields ?? [])));
}

/**
 * The form of one open question. Its values are kept as drafts, so that a redrawn page has them again; what is typed
 * into a secret field is kept nowhere but in the field, as drafts are a part of the widget's state, which is saved.
 */
class QuestionForm {
  constructor(question, port, number, total) {
    this.question = question;
    this.port = port;
    const draft = port.drafts()[question.key] ?? {};
    this.values = { ...draft.values };
    this.jsonText = draft.json ?? null;
    this.element = html("form", "adknb-run-form");
    this.element.noValidate = true;
    const title = question.message || "Input is needed";
    const from = total > 1 ? `${question.node} asks · ${number} of ${total}` : `${question.node} asks`;
    this.element.append(html("h4", "", title), html("p", "adknb-run-soft", from));
    if (question.payload !== null) this.element.append(valueView(question.payload));
    this.fieldBox = html("div");
    this.message = html("div", "adknb-run-bad");
    this.message.setAttribute("role", "alert");
    this.element.append(this.fieldBox);
    const [first] = question.fields;
    this.sendsAtOnce = question.fields.length === 1 && first.key === "" && first.kind === "choice" && first.buttons;
    this.send = html("button", "adknb-run-primary", "Send answer");
    this.send.type = "submit";
    this.asJson = button("as JSON", "adknb-run-quiet", () => this.toggleJson());
    this.secrets = secretKeys(question.fields);
    this.element.append(this.message, html("div", "adknb-run-row", this.send, this.asJson));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
    this.drawFields();
  }

  drawFields() {
    this.inputs = new Map();
    this.fieldBox.replaceChildren();
    this.asJson.textContent = this.jsonText === null ? "as JSON" : "as form";
    this.send.hidden = this.sendsAtOnce && this.jsonText === null;
    this.asJson.hidden = this.send.hidden || this.secrets.length > 0;
    if (this.jsonText === null) for (const field of this.question.fields) this.fieldBox.append(this.field(field));
    else this.fieldBox.append(this.jsonBox());
  }

  toggleJson() {
    this.jsonText = this.jsonText === null ? JSON.stringify(this.guess(), null, 1) : null;
    this.keep();
    this.drawFields();
    this.showErrors({});
  }

  /** The present values as JSON to start from. */
  guess() {
    const read = (field) => {
      const value = this.valueOf(field);
      if (value.state === "null") return null;
      if (value.state !== "value") return undefined;
      if (field.kind === "group") return Object.fromEntries(field.fields.map((one) => [lastStep(one.key), read(one)]));
      if (field.kind === "choice") return field.choices[Number(value.text)]?.value;
      if (!["integer", "number", "json"].includes(field.kind)) return value.text;
      try {
        return exactJson(value.text);
      } catch {
        return value.text;
      }
    };
    const { fields } = this.question;
    if (fields.length === 1 && fields[0].key === "") return read(fields[0]) ?? null;
    return Object.fromEntries(fields.map((field) => [lastStep(field.key), read(field)]));
  }

  jsonBox() {
    const area = html("textarea", "adknb-run-in adknb-run-code");
    area.rows = Math.min(12, this.jsonText.split("\n").length + 1);
    area.value = this.jsonText;
    area.spellcheck = false;
    area.addEventListener("input", () => {
      this.jsonText = area.value;
      this.keep();
    });
    this.inputs.set("", area);
    return this.labelled({ key: "", label: "Answer as JSON", required: true, help: "", hint: "" }, area);
  }

  valueOf(field) {
    return this.values[field.key] ?? field.initial;
  }

  set(field, value) {
    this.values[field.key] = value;
    this.keep();
  }

  keep() {
    const kept = Object.entries(this.values).filter(([key]) => !this.secrets.includes(key));
    this.port.draft(this.question.key, { values: Object.fromEntries(kept), json: this.jsonText });
  }

  field(field) {
    if (field.kind === "group") return this.group(field);
    if (field.kind === "choice") return this.labelled(field, field.buttons ? this.choiceButtons(field) : this.select(field));
    return this.labelled(field, this.text(field));
  }

  group(field) {
    const box = html("fieldset", "adknb-run-group", html("legend", "", field.label));
    const inner = html("div", "", ...field.fields.map((one) => this.field(one)));
    if (field.required && !field.nullable) {
      box.append(inner);
      return box;
    }
    const on = html("input");
    on.type = "checkbox";
    on.checked = this.valueOf(field).state === "value";
    inner.hidden = !on.checked;
    on.addEventListener("change", () => {
      inner.hidden = !on.checked;
      this.set(field, { state: on.checked ? "value" : field.required ? "null" : "missing" });
    });
    box.append(html("label", "adknb-run-check", on, "give it"), inner);
    return box;
  }

  choiceButtons(field) {
    const row = html("div", "adknb-run-row");
    row.setAttribute("role", "group");
    const mark = () => {
      const value = this.valueOf(field);
      [...row.children].forEach((one, index) => {
        const isOn = value.state === "value" && value.text === String(index);
        one.classList.toggle("adknb-run-primary", isOn || (this.sendsAtOnce && index === 0));
        if (!this.sendsAtOnce) one.setAttribute("aria-pressed", String(isOn));
      });
    };
    field.choices.forEach((choice, index) => {
      row.append(
        button(choice.label, "", () => {
          this.set(field, { state: "value", text: String(index) });
          mark();
          if (this.sendsAtOnce) this.submit();
        }),
      );
    });
    row.adknbRefresh = mark;
    mark();
    return row;
  }

  select(field) {
    const box = html("select", "adknb-run-in");
    const none = html("option", "", field.required ? "choose …" : "leave out");
    none.value = "";
    box.append(none);
    field.choices.forEach((choice, index) => {
      const option = html("option", "", choice.label);
      option.value = String(index);
      box.append(option);
    });
    box.adknbRefresh = () => {
      const value = this.valueOf(field);
      box.value = value.state === "value" ? value.text : "";
    };
    box.adknbRefresh();
    box.addEventListener("change", () => {
      this.set(field, box.value === "" ? { state: "missing" } : { state: "value", text: box.value });
      this.refreshStates(field);
    });
    return box;
  }

  text(field) {
    const kinds = { date: "date", time: "time", datetime: "datetime-local" };
    const isArea = ["text", "longtext", "json"].includes(field.kind);
    const box = html(isArea ? "textarea" : "input", "adknb-run-in");
    if (isArea) box.rows = field.kind === "text" ? 1 : 3;
    else box.type = field.kind === "secret" ? "password" : (kinds[field.kind] ?? "text");
    if (field.kind === "secret") box.autocomplete = "off";
    if (kinds[field.kind]) box.step = "any";
    if (field.kind === "integer") box.inputMode = "numeric";
    if (field.kind === "number") box.inputMode = "decimal";
    if (field.kind === "json") {
      box.classList.add("adknb-run-code");
      box.placeholder = "JSON";
      box.spellcheck = false;
    }
    const grow = () => {
      if (!isArea) return;
      box.style.height = "auto";
      if (box.scrollHeight) box.style.height = `${Math.min(box.scrollHeight + 2, 260)}px`;
    };
    box.adknbRefresh = () => {
      const value = this.valueOf(field);
      box.value = value.state === "value" ? value.text : "";
      requestAnimationFrame(grow);
    };
    box.adknbRefresh();
    box.addEventListener("input", () => {
      this.set(field, box.value === "" ? { state: "missing" } : { state: "value", text: box.value });
      this.refreshStates(field);
      grow();
    });
    // Enter sends, as in any chat; Shift+Enter starts a new line.
    box.addEventListener("keydown", (event) => {
      const isSend = field.kind === "text" ? !event.shiftKey : event.ctrlKey || event.metaKey;
      if (isArea && event.key === "Enter" && isSend && !event.isComposing) {
        event.preventDefault();
        this.submit();
      }
    });
    return box;
  }

  labelled(field, input) {
    const id = `${FIELD_IDS}-${++fieldNumber}`;
    const isBox = input.matches("input, textarea, select");
    // An answer that is one value needs no name: the question stands above it.
    const name = field.key === "" && field.kind ? "adknb-run-label adknb-run-unseen" : "adknb-run-label";
    const label = html(isBox ? "label" : "div", name, field.label);
    if (field.required) {
      const star = html("i", "", " *");
      star.setAttribute("aria-hidden", "true");
      label.append(star);
    }
    const bad = html("div", "adknb-run-bad");
    bad.id = `${id}-bad`;
    if (isBox) {
      input.id = id;
      label.htmlFor = id;
      input.required = Boolean(field.required);
    } else {
      label.id = id;
      input.setAttribute("aria-labelledby", id);
    }
    input.setAttribute("aria-describedby", bad.id);
    const states = html("span", "adknb-run-states");
    this.inputs.set(field.key, { input, bad, states, field });
    if (field.kind) this.refreshStates(field);
    const help = [field.help, field.hint].filter(Boolean).join(" · ");
    const top = html("div", "adknb-run-labelrow", label, states);
    return html("div", "adknb-run-field", top, input, bad, ...(help ? [html("div", "adknb-run-help", help)] : []));
  }

  /** Chips for what an empty field can mean. */
  refreshStates(field) {
    const { states, input } = this.inputs.get(field.key);
    const value = this.valueOf(field);
    const chips = [];
    const isEmpty = value.state !== "value" || value.text === "";
    if (isEmpty && ["text", "longtext"].includes(field.kind)) chips.push(["empty text", { state: "value", text: "" }]);
    if (field.nullable) chips.push(["null", { state: "null" }]);
    states.replaceChildren(
      ...chips.map(([name, wanted]) => {
        const isOn = value.state === wanted.state && (value.text ?? "") === (wanted.text ?? "");
        const chip = button(name, `adknb-run-chip${isOn ? " adknb-run-on" : ""}`, () => {
          this.set(field, isOn ? { state: "missing" } : wanted);
          input.adknbRefresh?.();
          this.refreshStates(field);
        });
        chip.setAttribute("aria-pressed", String(isOn));
        return chip;
      }),
    );
  }

  submit() {
    const values = {};
    const gather = (field) => {
      values[field.key] = this.valueOf(field);
      (field.fields ?? []).forEach(gather);
    };
    this.question.fields.forEach(gather);
    if (this.isBusy) return;
    this.showErrors({});
    this.setBusy(true);
    this.port.send({ kind: "answer", key: this.question.key, values, json: this.jsonText });
  }

  /** The kernel is gone: what was typed stays to be read and copied, and can't be sent. */
  lose(words) {
    this.setBusy(true);
    this.send.textContent = "Send answer";
    this.asJson.disabled = true;
    this.message.textContent = words;
  }

  get isBusy() {
    return this.send.disabled;
  }

  setBusy(isBusy) {
    this.send.disabled = isBusy;
    this.send.textContent = isBusy ? "Sending …" : "Send answer";
    for (const one of this.fieldBox.querySelectorAll("button")) one.disabled = isBusy;
  }

  showErrors(errors) {
    const own = new Map(this.inputs);
    let first = null;
    const rest = [];
    for (const [key, text] of Object.entries(errors)) {
      // Without its field beside it, what is wrong is told with the field's name.
      if (!own.get(key)?.bad) rest.push(key ? `${lastStep(key)} ${text}.` : text);
    }
    for (const [key, place] of own) {
      if (!place.bad) continue;
      const text = errors[key] ?? "";
      place.bad.textContent = visible(text);
      place.input.classList.toggle("adknb-run-wrong", Boolean(text));
      if (place.input.matches("input, textarea, select")) place.input.setAttribute("aria-invalid", String(Boolean(text)));
      if (text && !first) first = place.input;
    }
    this.message.textContent = visible(rest.join(" "));
    if (Object.keys(errors).length) {
      this.setBusy(false);
      (first?.matches("input, textarea, select") ? first : first?.querySelector("button"))?.focus();
    }
  }
}

function lastStep(key) {
  return key.split("/").pop().replaceAll("~1", "/").replaceAll("~0", "~");
}

/** A question without a form: answered, or open where no kernel listens. */
function questionView(question) {
  const box = html("div", "adknb-run-form", html("h4", "", question.message || "Input is needed"));
  if (question.answered === null) {
    box.append(html("p", "adknb-run-soft", `${question.node} asks · open`));
    if (question.payload !== null) box.append(valueView(question.payload));
    const [before, code, after] = UNREACHED;
    box.append(html("p", "adknb-run-soft", before, html("code", "", code), after));
    return box;
  }
  box.classList.add("adknb-run-answered");
  box.append(html("p", "adknb-run-soft", `${question.node} asked · answered at ${clock(question.answered)}`));
  const answer = question.answer;
  const isData = answer !== null && typeof answer === "object" && !Array.isArray(answer);
  box.append(isData ? valueView(answer) : html("div", "adknb-run-given", said(answer)));
  return box;
}

// What stands beside the graph: open forms first, then how it ended, then answers given

class SidePane {
  constructor() {
    this.element = html("div", "adknb-run-side");
    this.forms = new Map();
    this.drawn = "";
  }

  draw(state, port, isSettled) {
    const questions = [...state.questions.values()];
    const open = questions.filter((question) => question.answered === null);
    const answered = questions.filter((question) => question.answered !== null);
    // Forms stay as they are while somebody types: only a change of what is shown redraws.
    const shown = JSON.stringify([
      Boolean(port),
      Boolean(state.lost),
      isSettled,
      open.map((question) => question.key),
      answered.map((question) => question.key),
      state.result,
      state.error,
    ]);
    if (shown === this.drawn) return;
    this.drawn = shown;
    const hadFocus = this.element.contains(document.activeElement) ? document.activeElement : null;
    const parts = [];
    if (state.error) parts.push(errorView(state.error));
    if (isSettled || !port) this.forms.clear();
    for (const key of this.forms.keys()) if (!open.some((question) => question.key === key)) this.forms.delete(key);
    open.forEach((question, index) => {
      if (!port || isSettled) return parts.push(questionView(question));
      if (!this.forms.has(question.key)) {
        this.forms.set(question.key, new QuestionForm(question, port, index + 1, open.length));
      }
      const form = this.forms.get(question.key);
      if (state.lost) form.lose(LOST);
      return parts.push(form.element);
    });
    if (state.result) parts.push(html("div", "adknb-run-card", html("h4", "", "Result"), resultView(state.result)));
    parts.push(...answered.reverse().slice(0, 50).map(questionView));
    this.element.replaceChildren(...parts);
    this.element.hidden = parts.length === 0;
    if (hadFocus && this.element.contains(hadFocus)) hadFocus.focus({ preventScroll: true });
  }
}

/** A warning with its node's name, which many begin with. */
function warningView({ node, message }) {
  const rest = message.startsWith(`${node} `) ? message.slice(node.length) : `: ${message}`;
  return node ? html("div", "", html("b", "", node), rest) : html("div", "", message);
}

// The view

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

/* Copies of one run and the kernel's object find each other by key, whichever comes first. Views are held weakly: a host
   may take an output off the page and put it back, or drop it without a word. */

/** @type {{views: Map<string, Set<WeakRef<RunView>>>, ports: Map<string, object>}} */
const meeting = (globalThis[Symbol.for("adk_nb.run")] ??= { views: new Map(), ports: new Map() });

function viewsOf(key) {
  const refs = meeting.views.get(key) ?? new Set();
  for (const ref of refs) if (!ref.deref()) refs.delete(ref);
  return [...refs].map((ref) => ref.deref());
}

function join(key, view) {
  if (!meeting.views.has(key)) meeting.views.set(key, new Set());
  meeting.views.get(key).add(new WeakRef(view));
  // The element keeps its view alive, and nothing else does.
  view.root.adknbView = view;
  meeting.ports.get(key)?.greet(view);
}

/**
 * Bring the copies of one output to life. A host may replace an output before the script of the one before has run, so
 * that a script looks only for the HTML it came with.
 * @param {string} key @param {string} copy @param {Snapshot} snapshot @param {string} styles
 */
export function mountCopies(key, copy, snapshot, styles) {
  for (const root of document.querySelectorAll(`[data-adknb-run="${key}"][data-adknb-copy="${copy}"]`)) {
    if (root.adknbView) continue;
    const still = root.querySelector(".adknb-run-still");
    const outline = root.querySelector(".adknb-run-outline")?.textContent;
    join(key, new RunView(root, snapshot, still && parseSvg(pictureText(still.src)), styles, outline));
  }
}

/** The text of a picture that stands in the page as a data URL. */
function pictureText(url) {
  return new TextDecoder().decode(Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (c) => c.charCodeAt(0)));
}

function initialize({ model }) {
  const key = model.get("_key");
  const base = () => ({ snapshot: model.get("base"), now: model.get("now") });
  let typed = null;
  const lose = (word) => viewsOf(key).forEach((view) => view.lose(word));
  // A line whose other end is gone raises when it is used.
  const attempt = (act) => {
    try {
      act();
    } catch {
      lose("kernel gone");
    }
  };
  const port = {
    send: (message) => attempt(() => model.send(message)),
    drafts: () => model.get("drafts") ?? {},
    draft(question, values) {
      const drafts = { ...port.drafts(), [question]: values };
      model.set("drafts", drafts);
      clearTimeout(typed);
      typed = setTimeout(() => attempt(() => model.save_changes()), 300);
    },
    greet(view) {
      view.takeSnapshot(base());
      view.connect(port);
      port.send({ kind: "snapshot" });
    },
  };
  const onMessage = (message) => {
    let isGap = false;
    for (const view of viewsOf(key)) {
      if (message.kind === "batch") isGap = view.takeBatch(message) || isGap;
      else if (message.kind === "snapshot") view.takeSnapshot(message);
      else if (message.kind === "errors") view.showErrors(message);
    }
    if (isGap) port.send({ kind: "snapshot" });
  };
  // JupyterLab and Notebook 7 show their kernel here; elsewhere a loss is noticed when something is sent.
  const kernel = model.widget_manager?.kernel;
  const onStatus = (_, status) => {
    if (["restarting", "autorestarting"].includes(status)) lose("kernel restarted");
    else if (["dead", "terminating"].includes(status)) lose("kernel gone");
  };
  const onGone = () => lose("kernel gone");
  kernel?.statusChanged?.connect(onStatus);
  kernel?.disposed?.connect(onGone);
  const onBase = () => viewsOf(key).forEach((view) => view.takeSnapshot(base()));
  model.on("msg:custom", onMessage);
  model.on("change:base", onBase);
  meeting.ports.set(key, port);
  for (const view of viewsOf(key)) port.greet(view);
  return () => {
    model.off("msg:custom", onMessage);
    model.off("change:base", onBase);
    kernel?.statusChanged?.disconnect(onStatus);
    kernel?.disposed?.disconnect(onGone);
    clearTimeout(typed);
    if (meeting.ports.get(key) !== port) return;
    meeting.ports.delete(key);
    for (const view of viewsOf(key)) view.connect(null);
  };
}

function render({ model, el }) {
  const root = html("div", "adknb adknb-run");
  el.append(root);
  join(model.get("_key"), new RunView(root, model.get("base"), model.get("graph") ? parseSvg(model.get("graph")) : null));
}

export default { initialize, render };
