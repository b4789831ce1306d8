/**
 * The graph-versus-loop calculator: four sliders, what follows from them, two charts.
 *
 * One module, three ways in. As an anywidget, `initialize` links the kernel's object with every copy of the
 * calculator on the page and `render` draws one into another widget's box. As a script inside an output or a saved
 * page, `mountCopies` brings the copies to life; without a kernel they go on answering, on their own.
 * The arithmetic and the sentences are those of `adk_nb.calculator`; a test compares both, value by value.
 *
 * @typedef {{process_length: number, judgment_share: number, routing_accuracy: number, tokens_per_step: number}} Values
 *   the mirrored traits
 * @typedef {{send: (name: string, value: number) => void, settle: () => void}} Port
 *   the way to the kernel: a changed value; "nobody is touching the sliders, the saved copy may be renewed"
 * @typedef {[text: string, isStrong?: boolean]} Phrase
 */

const NAMES = ["process_length", "judgment_share", "routing_accuracy", "tokens_per_step"];
const COUNT_SLACK = 1e-12;
const ROUNDING_SLACK = 1e-9;
const LONGEST_SAID = 1e6;
const JUST_BELOW_ONE = 1 - Number.EPSILON / 2;

/** Steps that call a model in a graph: the share of the steps, halves up, at least one. */
export function judgmentNodes(n, j) {
  if (n === 0 || j === 0) return 0;
  return Math.min(Math.max(Math.floor(j * n * (1 + COUNT_SLACK) + 0.5), 1), n);
}

/** Chance that all of `choices` choices are right. */
export function allRight(choices, accuracy) {
  if (choices === 0 || accuracy === 1) return 1;
  if (accuracy === 0) return 0;
  return Math.min(Math.max(Math.exp(choices * Math.log(accuracy)), Number.MIN_VALUE), JUST_BELOW_ONE);
}

function saving(loop, graph) {
  if (loop === 0) return 0;
  return graph > 0 ? Math.min(1 - graph / loop, JUST_BELOW_ONE) : 1;
}

function ratio(loop, graph) {
  if (graph === 0) return loop > 0 ? Infinity : 1;
  return loop / graph;
}

/** Everything that follows from the four values, under the names of Python's `Comparison`. @param {Values} values */
export function compareDesigns({ process_length: n, judgment_share: j, routing_accuracy: p, tokens_per_step: t }) {
  const m = judgmentNodes(n, j);
  const loop = ((n * (n + 1)) / 2) * t;
  const graph = m * t;
  return {
    process_length: n,
    judgment_share: j,
    routing_accuracy: p,
    tokens_per_step: t,
    judgment_nodes: m,
    loop_tokens: loop,
    graph_tokens: graph,
    saving: saving(loop, graph),
    ratio: ratio(loop, graph),
    loop_success: allRight(n, p),
    graph_success: allRight(m, p),
    graph_success_exact: 1,
    horizon: p === 1 ? Infinity : p === 0 ? 0 : Math.log(0.5) / Math.log(p),
  };
}

/** Percent with one decimal; whole only when it is. */
export function formatPercent(share) {
  if (share <= 0) return "0 %";
  if (share >= 1) return "100 %";
  const tenths = Math.floor(share * 1000 + 0.5 + ROUNDING_SLACK);
  if (tenths === 0) return "< 0.1 %";
  if (tenths === 1000) return "> 99.9 %";
  return `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

/** Percent without the decimal when that is 0. */
export function formatShare(share) {
  return formatPercent(share).replace(".0 %", " %");
}

/** An amount with thousands separators, and one decimal where it isn't whole. */
export function formatCount(count) {
  const tenths = Math.floor(count * 10 + 0.5);
  const whole = String(Math.floor(tenths / 10)).replace(/\B(?=(\d{3})+$)/g, ",");
  return whole + (tenths % 10 ? `.${tenths % 10}` : "");
}

function counted(count, thing) {
  return `${formatCount(count)} ${thing}${count === 1 ? "" : "s"}`;
}

/** What each design sends, in words. @returns {Phrase[]} */
export function tokenPhrases(c) {
  if (c.process_length === 0) return [["A process without steps sends nothing either way."]];
  if (c.loop_tokens === 0) return [["When a step adds no tokens, neither design sends any."]];
  const loop = [formatCount(c.loop_tokens), true];
  const calls = counted(c.process_length, "call");
  if (c.judgment_nodes === 0) {
    return [
      ["The loop sends "],
      loop,
      [` tokens in ${calls}. The graph makes `],
      ["no model calls", true],
      [" and sends none."],
    ];
  }
  if (c.graph_tokens === c.loop_tokens) {
    return [["Both make one call of "], loop, [" tokens: "], ["no saving", true], [" in a process of one step."]];
  }
  return [
    ["The loop sends "],
    loop,
    [` tokens in ${calls}, the graph `],
    [formatCount(c.graph_tokens), true],
    [` in ${formatCount(c.judgment_nodes)}: `],
    [`${formatCount(c.ratio)} times fewer`, true],
    [", a saving of "],
    [formatPercent(c.saving), true],
    ["."],
  ];
}

/** How often each design stays on the intended path, in words. @returns {Phrase[]} */
export function successPhrases(c) {
  if (c.process_length === 0) return [["There is no turn to get wrong."]];
  if (c.routing_accuracy === 1) return [["When every choice is right, neither takes a wrong turn."]];
  const loop = [
    ["The loop stays on the intended path "],
    [formatPercent(c.loop_success), true],
    [" of the time, the graph "],
  ];
  const m = c.judgment_nodes;
  if (m === 0) return [...loop, ["always", true], [": it is all code."]];
  const judged =
    m === 1 ? "its one judgment picks a route" : `its ${formatCount(m)} judgments all pick a route`;
  return [
    ...loop,
    [formatPercent(c.graph_success), true],
    [` if ${judged}, `],
    ["always", true],
    [` ${m === 1 ? "if it doesn’t" : "if none does"}: edges are exact.`],
  ];
}

/** How long a process may be before a loop is more often wrong than right, in words. @returns {Phrase[]} */
export function horizonPhrases(c) {
  if (c.horizon === Infinity) return [["At this accuracy a loop is right at any length."]];
  const steps = Math.floor(c.horizon + ROUNDING_SLACK);
  if (steps === 0) return [["At this accuracy a loop is wrong more than half the time after a single step."]];
  const said = "At this accuracy a loop is right at least half the time ";
  return steps > LONGEST_SAID
    ? [[`${said}even over `], [counted(LONGEST_SAID, "step"), true], ["."]]
    : [[`${said}up to `], [counted(steps, "step"), true], ["."]];
}

/* What the sliders offer. A value set from code may lie between two stops or beyond the ends: the label then says it
   exactly, the thumb stands at the nearest stop, and the slider reaches as far as the value does. */

const TOKEN_STOPS = [
  0, 50, 60, 70, 80, 90, 100, 120, 140, 160, 180, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000, 1200,
  1400, 1600, 1800, 2000, 2500, 3000, 3500, 4000, 5000, 6000, 8000, 10000, 15000, 20000, 50000, 100000, 1e6, 1e7, 1e8,
  1e9,
];
const FIRST_TOKEN_STOP = TOKEN_STOPS.indexOf(50);
const LAST_TOKEN_STOP = TOKEN_STOPS.indexOf(4000);

function nearestStop(tokens) {
  let best = 0;
  TOKEN_STOPS.forEach((stop, i) => {
    if (Math.abs(stop - tokens) < Math.abs(TOKEN_STOPS[best] - tokens)) best = i;
  });
  return best;
}

const SLIDERS = [
  {
    name: "process_length",
    label: "Process length",
    bounds: (n) => [Math.min(1, n), Math.max(15, n)],
    step: 1,
    say: (c) => counted(c.process_length, "step"),
  },
  {
    name: "judgment_share",
    label: "Judgment share",
    bounds: () => [0, 1],
    step: 0.05,
    say: (c) => `${formatShare(c.judgment_share)} · ${formatCount(c.judgment_nodes)} of ${formatCount(c.process_length)}`,
  },
  {
    name: "routing_accuracy",
    label: "Routing accuracy",
    bounds: (p) => [Math.min(0.8, Math.floor(p * 20) / 20), 1],
    step: 0.005,
    say: (c) => formatPercent(c.routing_accuracy),
  },
  {
    name: "tokens_per_step",
    label: "Tokens per step",
    bounds: (t) => [Math.min(FIRST_TOKEN_STOP, nearestStop(t)), Math.max(LAST_TOKEN_STOP, nearestStop(t))],
    step: 1,
    say: (c) => formatCount(c.tokens_per_step),
    hint: "Moves both totals alike, never the share saved.",
    position: nearestStop,
    value: (position) => TOKEN_STOPS[position],
  },
];

const COUNTING = [
  ["Loop: ", "every step is a call, and call k resends the k steps so far: t · n(n + 1)/2 tokens."],
  ["Graph: ", "m = ⌊j·n + ½⌋ judgment nodes, each seeing only its own input: t · m tokens."],
  ["Right path: ", "every call of the loop also chooses the next step, so pⁿ. A graph whose judgments all pick a route: pᵐ."],
  ["Best case: ", "a judgment that needs the whole history pays for it in a graph, too."],
  [
    "For scale: ",
    "in Google’s published refund example, six steps with two judgments, 56 % of the tokens were saved; this model " +
      "says about 90 %. It leaves out what both designs pay: fixed prompts, second calls after a tool, reasoning.",
  ],
];

function html(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/** @param {Phrase[]} phrases */
function spoken(phrases) {
  return phrases.map(([text, isStrong]) => (isStrong ? html("strong", "", text) : text));
}

function plain(phrases) {
  return phrases.map(([text]) => text).join("");
}

function short(count) {
  for (const [unit, size] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (count >= size) return `${formatCount(Math.round((count / size) * 10) / 10)}${unit}`;
  }
  return formatCount(count);
}

/** Move labels that would touch apart, in their order, without leaving the drawing. */
function spread(labels, low, high, gap = 12) {
  labels.sort((a, b) => a.y - b.y);
  labels.forEach((label, i) => (label.y = Math.max(label.y, i ? labels[i - 1].y + gap : low)));
  for (let i = labels.length - 1; i >= 0; i--) {
    labels[i].y = Math.min(labels[i].y, i === labels.length - 1 ? high : labels[i + 1].y - gap);
  }
  return labels;
}

/**
 * Lines over process length, each named at its end, with the current length marked.
 * @param {{width: number, length: number, top: number, topLabel: string, midLabel: string, about: string,
 *   lines: {name: string, kind: string, thin?: boolean, at: (n: number) => number}[]}} options
 */
function chart({ width, length, top, topLabel, midLabel, about, lines }) {
  const [left, right, upper, lower] = [38, width - 72, 8, 124];
  const last = Math.max(15, length);
  const x = (n) => left + ((n - 1) / (last - 1)) * (right - left);
  const y = (value) => lower - (value / top) * (lower - upper);
  const stops = Array.from({ length: Math.min(last, 200) }, (_, i) =>
    last <= 200 ? i + 1 : Math.round(1 + (i / 199) * (last - 1)),
  );
  const parts = [
    svg("path", { class: "adknb-calc-axis", d: `M${left} ${upper}V${lower}H${right}` }),
    svg("path", { class: "adknb-calc-grid", d: `M${left} ${y(top / 2)}H${right}` }),
    svg("text", { x: left - 5, y: upper + 4, "text-anchor": "end" }, topLabel),
    svg("text", { x: left - 5, y: y(top / 2) + 4, "text-anchor": "end" }, midLabel),
    svg("text", { x: left - 5, y: lower + 4, "text-anchor": "end" }, "0"),
  ];
  if (length >= 1) parts.push(svg("path", { class: "adknb-calc-now", d: `M${x(length)} ${upper}V${lower}` }));
  for (const { kind, thin, at } of lines) {
    const d = stops.map((n, i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(at(n)).toFixed(1)}`).join("");
    parts.push(svg("path", { class: `adknb-calc-line adknb-calc-stroke-${kind}${thin ? " adknb-calc-thin" : ""}`, d }));
    if (length >= 1 && !thin) {
      parts.push(svg("circle", { class: `adknb-calc-fill-${kind}`, cx: x(length), cy: y(at(length)), r: 3.5 }));
    }
  }
  const named = lines.map(({ name, kind, at }) => ({ name, kind, y: y(at(last)) + 4 }));
  for (const label of spread(named, upper + 4, lower + 2)) {
    parts.push(svg("text", { class: `adknb-calc-fill-${label.kind}`, x: right + 6, y: label.y }, label.name));
  }
  parts.push(...lengthLabels(x, last, length, lower + 16));
  return svg("svg", { viewBox: `0 0 ${width} 144`, role: "img", "aria-label": about }, ...parts);
}

function lengthLabels(x, last, length, y) {
  const ends = [
    { n: 1, text: "1", room: 32 },
    { n: last, text: counted(last, "step"), room: 56 },
  ];
  const labels = ends
    .filter(({ n, room }) => length < 1 || Math.abs(x(n) - x(length)) > room)
    .map(({ n, text }) => svg("text", { x: x(n), y, "text-anchor": "middle" }, text));
  if (length >= 1) {
    labels.push(
      svg("text", { class: "adknb-calc-strong", x: x(length), y, "text-anchor": "middle" }, counted(length, "step")),
    );
  }
  return labels;
}

/** The loop's calls as columns, each as tall as what it sends; the graph's part of them in its own colour. */
function calls(width, c) {
  const [n, m] = [c.process_length, c.judgment_nodes];
  const tall = 64;
  const pitch = width / Math.max(n, 6);
  const column = Math.min(Math.max(pitch - 3, pitch * 0.7), 56);
  const unit = tall / Math.max(n, 1);
  const isJudgment = (k) => Math.floor((k * m) / n + 1e-9) > Math.floor(((k - 1) * m) / n + 1e-9);
  const block = (k, from, to) =>
    `M${(pitch * (k - 1)).toFixed(2)} ${(tall - from).toFixed(2)}h${column.toFixed(2)}V${(tall - to).toFixed(2)}h${(-column).toFixed(2)}z`;
  const steps = Array.from({ length: n }, (_, i) => i + 1);
  const thin = Math.max(unit, 2);
  const judged = steps.filter(isJudgment);
  const about = `Each call of the loop sends one step more than the call before, ${formatCount(n)} in the last; each of the graph's ${formatCount(m)} sends one.`;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": about },
    svg("path", { class: "adknb-calc-fill-rest", d: steps.map((k) => block(k, 0, Math.max(unit * k, 2))).join("") }),
    svg("path", { class: "adknb-calc-fill-graph", d: judged.map((k) => block(k, 0, thin)).join("") }),
  );
}

/** One calculator on the page: keeps its values, draws them, and tells its port what a person changed. */
class View {
  /** @param {HTMLElement} root @param {Values} values */
  constructor(root, values) {
    /** @type {Port | null} */
    this.port = null;
    this.values = { ...values };
    this.root = root;
    this.reach = {};
    root.classList.add("adknb", "adknb-calc");
    root.setAttribute("role", "group");
    root.setAttribute("aria-label", "Graph or agent loop: a calculator");
    this.sliders = SLIDERS.map((spec) => this.#slider(spec));
    this.tokens = html("p", "adknb-calc-say");
    this.success = html("p", "adknb-calc-say");
    this.spokenResult = html("div", "", this.tokens, this.success);
    this.spokenResult.setAttribute("aria-live", "polite");
    this.bars = {
      loop: bar("agent loop"),
      graph: bar("graph", "graph"),
      loopRight: bar("agent loop"),
      graphRight: bar("graph", "graph"),
      exact: bar("exact edges", "graph", true),
    };
    this.callsBox = html("div");
    this.tokensBox = html("div");
    this.successBox = html("div");
    this.horizon = html("p", "adknb-calc-hint");
    root.replaceChildren(...this.#layout());
    for (const event of ["focusout", "change"]) root.addEventListener(event, () => this.#settleSoon());
    this.draw();
    new ResizeObserver(() => this.drawCharts()).observe(root);
  }

  #layout() {
    const title = (text) => html("p", "adknb-calc-title", text);
    return [
      html(
        "div",
        "adknb-calc-head",
        html("strong", "", "Graph or agent loop?"),
        html("span", "", "a picture of the mechanism, not a benchmark"),
      ),
      html(
        "div",
        "adknb-calc-body",
        html("div", "", ...this.sliders.map(({ row }) => row)),
        html(
          "div",
          "adknb-calc-result",
          this.spokenResult,
          title("Tokens sent"),
          this.bars.loop.row,
          this.bars.graph.row,
          title("Stays on the intended path"),
          this.bars.loopRight.row,
          this.bars.graphRight.row,
          this.bars.exact.row,
          title("One column per call of the loop; green is all that the graph sends"),
          this.callsBox,
        ),
        html(
          "div",
          "adknb-calc-charts",
          html("div", "", title("Tokens, as the process grows"), this.tokensBox),
          html("div", "", title("Intended path, as the process grows"), this.successBox, this.horizon),
        ),
      ),
      html(
        "div",
        "adknb-calc-foot",
        html("p", "", "Ignores prompt caching, which makes a resent prefix cheaper. Takes mistakes as independent."),
        html(
          "details",
          "",
          html("summary", "", "How it counts"),
          html("ul", "", ...COUNTING.map(([name, text]) => html("li", "", html("strong", "", name), text))),
        ),
      ),
    ];
  }

  #slider(spec) {
    const id = `adknb-calc-${Math.random().toString(36).slice(2)}`;
    const label = html("label", "", spec.label);
    const output = html("output");
    const input = html("input");
    label.htmlFor = id;
    output.htmlFor = id;
    Object.assign(input, { id, type: "range", step: spec.step });
    input.dataset.name = spec.name;
    input.addEventListener("input", () => this.#moved(spec, Number(input.value)));
    keepArrowKeys(input);
    const row = html("div", "adknb-calc-slider", label, output, input);
    if (spec.hint) {
      const hint = html("span", "adknb-calc-hint", spec.hint);
      hint.id = `${id}-hint`;
      input.setAttribute("aria-describedby", hint.id);
      row.append(hint);
    }
    return { spec, row, input, output };
  }

  #moved(spec, position) {
    const value = spec.value ? spec.value(position) : position;
    this.values[spec.name] = value;
    this.draw();
    this.port?.send(spec.name, value);
  }

  /** Take values from elsewhere: the kernel, or another copy. @param {Partial<Values>} values */
  show(values) {
    if (NAMES.every((name) => values[name] === undefined || values[name] === this.values[name])) return;
    Object.assign(this.values, values);
    this.draw();
    this.#settleSoon();
  }

  #settleSoon() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.port?.settle(), 400);
  }

  draw() {
    const c = (this.comparison = compareDesigns(this.values));
    for (const slider of this.sliders) this.#place(slider, c);
    this.tokens.replaceChildren(...spoken(tokenPhrases(c)));
    this.success.replaceChildren(...spoken(successPhrases(c)));
    this.horizon.replaceChildren(...spoken(horizonPhrases(c)));
    const share = (tokens) => (c.loop_tokens > 0 ? tokens / c.loop_tokens : 0);
    this.bars.loop.set(share(c.loop_tokens), formatCount(c.loop_tokens));
    this.bars.graph.set(share(c.graph_tokens), formatCount(c.graph_tokens));
    this.bars.loopRight.set(c.loop_success, formatPercent(c.loop_success));
    this.bars.graphRight.set(c.graph_success, formatPercent(c.graph_success));
    this.bars.exact.set(1, formatPercent(c.graph_success_exact));
    this.drawCharts();
  }

  #place({ spec, input, output }, c) {
    const value = this.values[spec.name];
    const [low, high] = spec.bounds(value);
    const reach = (this.reach[spec.name] ??= [low, high]);
    reach[0] = Math.min(reach[0], low);
    reach[1] = Math.max(reach[1], high);
    const position = spec.position ? spec.position(value) : value;
    // The order matters: a range clamps its value to the bounds it has at that moment.
    input.min = reach[0];
    input.max = reach[1];
    if (Number(input.value) !== position) input.value = position;
    input.setAttribute("aria-valuetext", spec.say(c));
    output.textContent = spec.say(c);
    const part = (Number(input.value) - reach[0]) / (reach[1] - reach[0]);
    // The thumb's centre runs from half its width to the full width less that half.
    input.style.setProperty("--adknb-fill", `calc(8px + ${part} * (100% - 16px))`);
  }

  drawCharts() {
    const c = this.comparison;
    const width = (box) => Math.max(Math.round(box.clientWidth), 200);
    const last = Math.max(15, c.process_length);
    const at = (n) => compareDesigns({ ...this.values, process_length: n });
    const top = at(last).loop_tokens;
    this.callsBox.replaceChildren(calls(width(this.callsBox), c));
    this.tokensBox.replaceChildren(
      chart({
        width: width(this.tokensBox),
        length: c.process_length,
        top: top || 1,
        topLabel: top ? short(top) : "",
        midLabel: top ? short(top / 2) : "",
        about: `Tokens over process length. ${plain(tokenPhrases(c))}`,
        lines: [
          { name: "agent loop", kind: "loop", at: (n) => at(n).loop_tokens },
          { name: "graph", kind: "graph", at: (n) => at(n).graph_tokens },
        ],
      }),
    );
    this.successBox.replaceChildren(
      chart({
        width: width(this.successBox),
        length: c.process_length,
        top: 1,
        topLabel: "100 %",
        midLabel: "50 %",
        about: `Chance of the intended path over process length. ${plain(successPhrases(c))}`,
        lines: [
          { name: "exact edges", kind: "graph", thin: true, at: () => 1 },
          { name: "graph", kind: "graph", at: (n) => at(n).graph_success },
          { name: "agent loop", kind: "loop", at: (n) => at(n).loop_success },
        ],
      }),
    );
  }
}

function bar(name, kind = "loop", thin = false) {
  const length = html("i");
  const value = html("span");
  const row = html(
    "div",
    `adknb-calc-bar adknb-calc-${kind}${thin ? " adknb-calc-thin" : ""}`,
    html("span", "", name),
    length,
    value,
  );
  length.setAttribute("aria-hidden", "true");
  return {
    row,
    set(share, text) {
      length.style.setProperty("--adknb-fill", share > 0 ? `max(2px, ${share * 100}%)` : "0");
      value.textContent = text;
    },
  };
}

/**
 * Keep the keys that move a slider from JupyterLab, which would move the cell cursor with them, and leave it all others
 * (Ctrl+S still saves). Lab listens on the document in the capture phase and passes over elements with this attribute;
 * the window's capture phase comes just before that.
 */
function keepArrowKeys(input) {
  const own = /^(Arrow|Page)|^(Home|End)$/;
  const mark = (event) =>
    input.toggleAttribute("data-lm-suppress-shortcuts", own.test(event.key) && !event.ctrlKey && !event.metaKey);
  input.addEventListener("focus", () => window.addEventListener("keydown", mark, true));
  input.addEventListener("blur", () => window.removeEventListener("keydown", mark, true));
}

/* Copies of one calculator and the kernel's object find each other by key, whichever comes first. Views are held weakly:
   a host may take an output off the page and put it back, or drop it without a word. */

/** @type {{views: Map<string, Set<WeakRef<View>>>, ports: Map<string, Port & {values: () => Values}>}} */
const meeting = (globalThis[Symbol.for("adk_nb.calculator")] ??= { views: new Map(), ports: new Map() });

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
  const port = meeting.ports.get(key);
  if (port) {
    view.port = port;
    view.show(port.values());
  }
}

/** Bring every copy with this key on the page to life. @param {string} key @param {Values} values */
export function mountCopies(key, values) {
  for (const root of document.querySelectorAll(`[data-adknb-calculator="${key}"]`)) {
    if (!root.adknbView) join(key, new View(root, values));
  }
}

function valuesOf(model) {
  return Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
}

function initialize({ model }) {
  const key = model.get("_key");
  const port = {
    values: () => valuesOf(model),
    send(name, value) {
      model.set(name, value);
      model.save_changes();
    },
    settle() {
      // Renewing the saved copy redraws every copy on the page: not under the hand of somebody who is using one.
      const isInUse = viewsOf(key).some(({ root }) => root.contains(document.activeElement));
      if (!isInUse) model.send({ kind: "settled" });
    },
  };
  const spreadValues = () => viewsOf(key).forEach((view) => view.show(port.values()));
  meeting.ports.set(key, port);
  for (const view of viewsOf(key)) {
    view.port = port;
    view.show(port.values());
  }
  for (const name of NAMES) model.on(`change:${name}`, spreadValues);
  return () => {
    for (const name of NAMES) model.off(`change:${name}`, spreadValues);
    if (meeting.ports.get(key) === port) meeting.ports.delete(key);
    for (const view of viewsOf(key)) view.port = null;
  };
}

function render({ model, el }) {
  const root = document.createElement("div");
  el.append(root);
  join(model.get("_key"), new View(root, valuesOf(model)));
}

export default { initialize, render };
