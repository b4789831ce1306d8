/**
 * One calculator on the page: its sliders, fields and menus, the results, the charts.
 *
 * @typedef {import("./calculator_model.js").Values} Values
 * @typedef {import("./calculator.js").Port} Port
 * @typedef {import("./calculator.js").Tables} Tables
 */

import { ASSUMPTIONS, compareDesigns, compareInDetail } from "./calculator_model.js";
import {
  detailedRows,
  detailedSuccessPhrases,
  detailedTokenPhrases,
  formatAmount,
  formatCount,
  formatPercent,
  formatSaving,
  horizonPhrases,
  mistakePhrases,
  policyRows,
  successPhrases,
  tokenPhrases,
} from "./calculator_words.js";
import { calls } from "./calculator_charts.js";
import { detailedCurves, simpleCurves } from "./calculator_curves.js";
import {
  CONTEXT_ROWS,
  COUNTING,
  FIELDS,
  FORMULAS,
  MISTAKE_SLIDERS,
  SLIDERS,
  placeholder,
  reach,
  readField,
} from "./calculator_inputs.js";
import {
  MOVING,
  bar,
  fillMenu,
  folded,
  formula,
  freshId,
  html,
  keepKeys,
  labelled,
  spoken,
  table,
  title,
} from "./calculator_parts.js";

const SIMPLE = { process_length: 6, judgment_share: 0.5, routing_accuracy: 0.97, tokens_per_step: 500 };
const INPUTS = [...Object.keys(SIMPLE), ...Object.keys(ASSUMPTIONS)];
const FITTED = [
  "process_length",
  "judgment_share",
  "closing_call",
  "length_variance",
  ...CONTEXT_ROWS.flatMap(([, loop, graph]) => [loop, graph]),
];
const CHANGED = " Values were changed since.";
export const NAMES = [...INPUTS, "is_extended", "fit_note"];

/** Keeps its values, draws them, and tells its port what a person changed. */
export class View {
  /** @param {HTMLElement} root @param {Values} values @param {Tables} tables */
  constructor(root, values, tables) {
    /** @type {Port | null} */
    this.port = null;
    this.values = { ...SIMPLE, ...ASSUMPTIONS, is_extended: false, fit_note: "", ...values };
    this.tables = tables;
    this.root = root;
    this.reach = {};
    this.fields = [];
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
      reference: bar("", "rest", true),
    };
    this.published = compareInDetail({ ...SIMPLE, ...tables.presets.find(({ key }) => key === "refund").values });
    this.callsTitle = html("p", "adknb-calc-title", "One column per call of the loop; green is all that the graph sends");
    this.callsBox = html("div");
    this.tokensBox = html("div");
    this.successBox = html("div");
    this.policyBox = html("div");
    this.horizon = html("p", "adknb-calc-hint");
    this.scale = html("p", "adknb-calc-hint");
    this.note = html("div", "adknb-calc-note");
    this.limits = html("p");
    this.results = html("div");
    this.policies = html("div");
    this.preset = this.#menu("Preset", (key) => this.#usePreset(key));
    this.more = this.#extended();
    this.toggle = html("button", "adknb-calc-toggle", "More");
    this.toggle.type = "button";
    this.toggle.addEventListener("click", () => this.#change({ is_extended: !this.values.is_extended }));
    keepKeys(this.toggle, /^( |Enter)$/);
    root.replaceChildren(...this.#layout());
    for (const event of ["focusout", "change"]) root.addEventListener(event, () => this.#settleSoon());
    this.draw();
    new ResizeObserver(() => this.drawCharts()).observe(root);
  }

  #layout() {
    return [
      html(
        "div",
        "adknb-calc-head",
        html("strong", "", "Graph or agent loop?"),
        html("span", "", "a picture of the mechanism, not a benchmark"),
        html("span", "adknb-calc-tools", this.preset.row, this.toggle),
      ),
      this.note,
      html(
        "div",
        "adknb-calc-body",
        html("div", "", ...this.sliders.map(({ row }) => row)),
        html(
          "div",
          "adknb-calc-result",
          this.spokenResult,
          title("Tokens"),
          this.bars.loop.row,
          this.bars.graph.row,
          this.bars.reference.row,
          title("Stays on the intended path"),
          this.bars.loopRight.row,
          this.bars.graphRight.row,
          this.bars.exact.row,
          this.callsTitle,
          this.callsBox,
          this.scale,
        ),
        html(
          "div",
          "adknb-calc-charts",
          html("div", "", title("Tokens, as the process grows"), this.tokensBox),
          html("div", "", title("Intended path, as the process grows"), this.successBox, this.horizon),
        ),
      ),
      this.more,
      html(
        "div",
        "adknb-calc-foot",
        this.limits,
        folded("How it counts", COUNTING),
        folded(
          "What others measured",
          this.tables.findings.map(([name, result, source]) => [`${name}: `, `${result}. Source: ${source}.`]),
        ),
      ),
    ];
  }

  /** The extended model: contexts, caching and money, mistakes, and what follows from them. */
  #extended() {
    const cell = (name) => html("td", "", this.#field(name));
    const contexts = table(["", "agent loop", "graph"], [], "adknb-calc-inputs");
    contexts.tBodies[0].append(
      ...CONTEXT_ROWS.map(([name, loop, graph]) => html("tr", "", html("th", "", name), cell(loop), cell(graph))),
    );
    this.cache = this.#menu("Prompt cache", (name) => this.#useCache(name));
    this.model = this.#menu("Model", (name) => this.#useModel(name));
    this.mistakeSliders = MISTAKE_SLIDERS.map((spec) => this.#slider(spec));
    const row = (name, unit) => labelled(FIELDS[name].about, this.#field(name), unit);
    return html(
      "div",
      "adknb-calc-more",
      html(
        "div",
        "",
        title("Contexts, in tokens a call"),
        contexts,
        this.#closing(),
        row("length_variance"),
        row("shared_reasoning"),
        formula(FORMULAS.contexts),
      ),
      html(
        "div",
        "",
        title("Caching"),
        this.cache.row,
        row("cache_read", "× input"),
        row("cache_write", "× input"),
        row("cache_minimum", "tokens"),
        row("cache_hit", "0 to 1"),
        formula(FORMULAS.caching),
        folded("Caveat", [["", this.tables.cache_caveat]]),
        title("Money, $ a million tokens"),
        this.model.row,
        row("price_input"),
        row("price_output"),
        formula(FORMULAS.money),
        formula(`Prices: ${this.tables.prices_source}, ${this.tables.prices_date}`),
      ),
      html(
        "div",
        "",
        title("Mistakes"),
        ...this.mistakeSliders.map(({ row: slider }) => slider),
        row("most_attempts"),
      ),
      html("div", "", title("A run, and all runs until it ends"), this.results),
      html(
        "div",
        "adknb-calc-policies",
        html("div", "", title("Tokens until it is right"), this.policies, formula(FORMULAS.policies)),
        html("div", "", title("The same, as the process grows"), this.policyBox),
      ),
    );
  }

  #slider(spec) {
    const label = html("label", "", spec.label);
    const output = html("output");
    const input = html("input");
    const hint = formula(spec.formula);
    input.id = label.htmlFor = output.htmlFor = freshId();
    hint.id = `${input.id}-hint`;
    input.type = "range";
    input.step = spec.step;
    input.dataset.name = spec.name;
    input.setAttribute("aria-describedby", hint.id);
    input.addEventListener("input", () => this.#moved(spec, Number(input.value)));
    keepKeys(input, MOVING);
    return { spec, row: html("div", "adknb-calc-slider", label, output, input, hint), input, output, hint };
  }

  #moved(spec, position) {
    const value = spec.value ? spec.value(position) : position;
    // Back at the value that it follows when it isn't set, it isn't set any more.
    this.#change({ [spec.name]: spec.otherwise && value === this.values[spec.otherwise] ? null : value });
  }

  #field(name) {
    const input = html("input");
    input.type = "text";
    input.inputMode = "decimal";
    input.autocomplete = "off";
    input.dataset.name = name;
    input.setAttribute("aria-label", FIELDS[name].about);
    input.addEventListener("input", () => {
      const value = readField(name, input.value);
      input.setAttribute("aria-invalid", value === undefined);
      if (value !== undefined) this.#change({ [name]: value });
    });
    input.addEventListener("blur", () => this.#fill({ name, input }));
    this.fields.push({ name, input });
    return input;
  }

  #fill({ name, input }) {
    const value = this.values[name];
    input.placeholder = placeholder(name, this.values);
    if (document.activeElement === input) return;
    input.value = value === null ? "" : String(Math.round(value * 1e4) / 1e4);
    input.setAttribute("aria-invalid", false);
  }

  #closing() {
    const input = (this.closing = html("input"));
    input.type = "checkbox";
    input.addEventListener("change", () => this.#change({ closing_call: input.checked }));
    keepKeys(input, /^ $/);
    return html("label", "adknb-calc-check", input, "the loop ends with one more call, its answer");
  }

  #menu(name, use) {
    const select = html("select");
    const label = html("label", "", name);
    select.id = label.htmlFor = freshId();
    select.addEventListener("change", () => use(select.value));
    keepKeys(select, /^(.|Arrow.*|Page.*|Home|End|Enter)$/);
    return { select, row: html("div", "adknb-calc-menu", label, select) };
  }

  #usePreset(key) {
    const preset = this.tables.presets.find((one) => one.key === key);
    this.#change({ ...SIMPLE, ...ASSUMPTIONS, ...preset.values, is_extended: key !== "", fit_note: "" });
  }

  #useCache(name) {
    const terms = { ...this.tables.caches[name] };
    const model = this.tables.prices[this.model.select.value];
    if (name && model && name.startsWith(model.maker)) terms.cache_read = model.read;
    this.#change(terms);
  }

  #useModel(name) {
    const model = this.tables.prices[name];
    const changed = { price_input: model.price_input, price_output: model.price_output };
    if (model.maker && this.cache.select.value.startsWith(model.maker)) changed.cache_read = model.read;
    this.#change(changed);
  }

  /** A person changed something. @param {Partial<Values>} values */
  #change(values) {
    const note = this.values.fit_note;
    const isFitChanged = note && !note.endsWith(CHANGED) && Object.keys(values).some((name) => FITTED.includes(name));
    if (isFitChanged && values.fit_note === undefined) values = { ...values, fit_note: note + CHANGED };
    Object.assign(this.values, values);
    this.draw();
    this.port?.send(values);
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
    const d = (this.detail = compareInDetail(this.values));
    const isExtended = this.values.is_extended;
    if (isExtended !== this.wasExtended) delete this.reach.process_length; // The length reaches further in detail.
    this.wasExtended = isExtended;
    for (const slider of this.sliders) {
      this.#place(slider);
      slider.hint.textContent = isExtended ? slider.spec.detailed : slider.spec.formula;
    }
    this.toggle.setAttribute("aria-expanded", isExtended);
    this.toggle.textContent = isExtended ? "Less" : "More";
    this.more.hidden = !isExtended;
    this.callsTitle.hidden = this.callsBox.hidden = isExtended;
    this.tokens.replaceChildren(...spoken(isExtended ? detailedTokenPhrases(d) : tokenPhrases(c)));
    this.success.replaceChildren(...spoken(isExtended ? detailedSuccessPhrases(d) : successPhrases(c)));
    this.horizon.replaceChildren(...spoken(horizonPhrases(isExtended ? d : c)));
    const [loop, graph] = isExtended ? [d.loop.tokens, d.graph.tokens] : [c.loop_tokens, c.graph_tokens];
    const right = isExtended ? [d.loop.success, d.graph.success] : [c.loop_success, c.graph_success];
    const most = Math.max(loop, graph);
    this.bars.loop.set(most > 0 ? loop / most : 0, isExtended ? formatAmount(loop) : formatCount(loop));
    this.bars.graph.set(most > 0 ? graph / most : 0, isExtended ? formatAmount(graph) : formatCount(graph));
    this.bars.loopRight.set(right[0], formatPercent(right[0]));
    this.bars.graphRight.set(right[1], formatPercent(right[1]));
    this.bars.exact.set(1, formatPercent(c.graph_success_exact));
    this.#drawPreset();
    this.#drawScale();
    if (isExtended) this.#drawExtended();
    this.drawCharts();
  }

  #drawPreset() {
    const same = (values) => {
      const whole = { ...SIMPLE, ...ASSUMPTIONS, ...values };
      return INPUTS.every((name) => whole[name] === this.values[name]);
    };
    const found = this.tables.presets.find((preset) => same(preset.values));
    const options = this.tables.presets.map(({ key, title: name }) => [key, name]);
    fillMenu(this.preset.select, options, found?.key);
    const lines = [];
    if (found?.source) lines.push([`${found.title}. `, `${found.source} ${found.caveat}`]);
    if (this.values.fit_note) lines.push(["Fitted. ", this.values.fit_note]);
    this.note.hidden = lines.length === 0;
    this.note.replaceChildren(...lines.map(([name, text]) => html("p", "", html("strong", "", name), text)));
  }

  /** What keeps the simple model's saving from being taken for a promise. */
  #drawScale() {
    const { comparison: c, detail: d } = this;
    this.limits.textContent = this.values.is_extended
      ? "Means over runs whose steps are alike. Accuracy and prices are what you enter; a judgment that needs the whole history pays for it in a graph, too."
      : "Ignores prompt caching, which makes a resent prefix cheaper. Takes mistakes as independent. Both are switches under “More”.";
    const nodes = d.break_even_nodes;
    const even = nodes > 0 && nodes < Infinity ? ` With ${formatAmount(nodes)} judgment nodes it would save nothing.` : "";
    const { loop, graph } = this.published;
    const remains = this.values.is_extended ? 1 - c.saving : graph.tokens / loop.tokens;
    this.bars.reference.set(remains, formatPercent(remains), this.values.is_extended ? "simple model" : "refund case");
    const said = this.values.is_extended
      ? `The graph saves ${formatSaving(d.saving)} of the tokens; the simple model says ${formatPercent(c.saving)}.${even}`
      : "Refund case: published for 6 steps with 2 judgments, in parts of the loop’s tokens; this model says 9.5 % there.";
    this.scale.textContent = said.replaceAll(" %", "\u00a0%");
  }

  #drawExtended() {
    const { values, detail: d } = this;
    for (const field of this.fields) this.#fill(field);
    for (const slider of this.mistakeSliders) this.#place(slider);
    this.closing.checked = values.closing_call;
    const matches = (terms) => Object.entries(terms).every(([name, value]) => values[name] === value);
    const caches = Object.entries(this.tables.caches);
    const model = Object.entries(this.tables.prices).find(
      ([, price]) => values.price_input === price.price_input && values.price_output === price.price_output,
    );
    const isKnownModel = (terms) => model && values.cache_read === model[1].read && matches({ ...terms, cache_read: model[1].read });
    const cache =
      caches.find(([, terms]) => matches(terms)) ??
      caches.find(([name, terms]) => model?.[1].maker && name.startsWith(model[1].maker) && isKnownModel(terms));
    fillMenu(this.cache.select, caches.map(([name]) => [name, name || "none"]), cache?.[0]);
    fillMenu(this.model.select, Object.keys(this.tables.prices).map((name) => [name, name || "unknown"]), model?.[0]);
    this.results.replaceChildren(table(["", "agent loop", "graph", "saved"], detailedRows(d), "adknb-calc-table"));
    this.policies.replaceChildren(table(["a mistake is", "agent loop", "graph"], policyRows(d), "adknb-calc-table"));
  }

  #place({ spec, input, output }) {
    const value = this.values[spec.name] ?? this.values[spec.otherwise];
    const [low, high] = spec.bounds(value, this.values);
    const known = (this.reach[spec.name] ??= [low, high]);
    known[0] = Math.min(known[0], low);
    known[1] = Math.max(known[1], high);
    const position = spec.position ? spec.position(value) : value;
    // The order matters: a range clamps its value to the bounds it has at that moment.
    input.min = known[0];
    input.max = known[1];
    if (Number(input.value) !== position) input.value = position;
    const said = spec.say(this.values, this.comparison, this.detail);
    input.setAttribute("aria-valuetext", said);
    output.textContent = said;
    const part = (Number(input.value) - known[0]) / (known[1] - known[0]);
    // The thumb's centre runs from half its width to the full width less that half.
    input.style.setProperty("--adknb-fill", `calc(8px + ${part} * (100% - 16px))`);
  }

  drawCharts() {
    const { values } = this;
    const width = (box) => Math.max(Math.round(box.clientWidth), 200);
    const said = { tokens: this.tokens.textContent, success: this.success.textContent };
    const draw = values.is_extended ? detailedCurves : simpleCurves;
    const { tokens, success, policies } = draw(values, reach(values), said, {
      tokens: width(this.tokensBox),
      success: width(this.successBox),
      policies: width(this.policyBox),
    });
    this.tokensBox.replaceChildren(tokens);
    this.successBox.replaceChildren(success);
    if (values.is_extended) {
      const hopeless = html("p", "adknb-calc-hint", ...spoken(mistakePhrases(this.detail)));
      this.policyBox.replaceChildren(policies ?? hopeless);
    } else this.callsBox.replaceChildren(calls(width(this.callsBox), this.comparison));
  }
}
