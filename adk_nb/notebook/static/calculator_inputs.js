/** What can be set: sliders, number fields, and the formulas that stand beside them. */

import { counted, formatAmount, formatCount, formatPercent, formatShare } from "./calculator_words.js";

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

/** How many steps a chart and the length's slider reach at least. */
export const reach = (values) => Math.max(values.is_extended ? 30 : 15, values.process_length);

/* `bounds` are the ends of a slider for a value, `say` its label from all values and the simple comparison. */
export const SLIDERS = [
  {
    name: "process_length",
    label: "Process length",
    bounds: (n, values) => [Math.min(1, n), reach(values)],
    step: 1,
    say: (values) => counted(values.process_length, "step"),
    formula: "loop L = t·n(n+1)/2",
    detailed: "loop κ = calls a step · n, and a closing one",
  },
  {
    name: "judgment_share",
    label: "Judgment share",
    bounds: () => [0, 1],
    step: 0.05,
    say: (values, c) =>
      `${formatShare(values.judgment_share)} · ${formatCount(c.judgment_nodes)} of ${formatCount(c.process_length)}`,
    formula: "m = ⌊j·n + ½⌋, graph G = t·m",
    detailed: "m = ⌊j·n + ½⌋, one context for each",
  },
  {
    name: "routing_accuracy",
    label: "Routing accuracy",
    bounds: (p) => [Math.min(0.8, Math.floor(p * 20) / 20), 1],
    step: 0.005,
    say: (values) => formatPercent(values.routing_accuracy),
    formula: "loop pⁿ, graph pᵐ, exact edges 1",
    detailed: "the loop’s p, and q unless that is set",
  },
  {
    name: "tokens_per_step",
    label: "Tokens per step",
    bounds: (t) => [Math.min(FIRST_TOKEN_STOP, nearestStop(t)), Math.max(LAST_TOKEN_STOP, nearestStop(t))],
    step: 1,
    say: (values) => formatCount(values.tokens_per_step),
    formula: "saved 1 − G/L: both totals move, never the share",
    detailed: "t: first prompts and tool results left empty",
    position: nearestStop,
    value: (position) => TOKEN_STOPS[position],
  },
];

/** The extended model's sliders. */
export const MISTAKE_SLIDERS = [
  {
    name: "judge_accuracy",
    label: "Accuracy of a judgment, q",
    bounds: (q) => [Math.min(0.8, Math.floor(q * 20) / 20), 1],
    step: 0.005,
    say: (values) => formatPercent(values.judge_accuracy ?? values.routing_accuracy),
    formula: "graph q^mᵣ; the loop’s p unless set",
    otherwise: "routing_accuracy",
  },
  {
    name: "route_share",
    label: "Judgments that route",
    bounds: () => [0, 1],
    step: 0.05,
    say: (values, c, d) => `${formatShare(values.route_share)} · ${formatCount(d.routing_nodes)} of ${formatCount(d.judgment_nodes)}`,
    formula: "mᵣ = ⌊share·m + ½⌋",
  },
  {
    name: "dependence",
    label: "Dependence, s",
    bounds: (s) => [Math.min(0.5, s), Math.max(1.3, s)],
    step: 0.05,
    say: (values) => `${String(Math.round(values.dependence * 100) / 100)} · ${dependenceWord(values.dependence)}`,
    formula: "P = exp(ln p · nˢ)",
  },
  {
    name: "detection",
    label: "Wrong runs noticed, δ",
    bounds: () => [0, 1],
    step: 0.05,
    say: (values) => formatShare(values.detection),
    formula: "runs A = 1/(1 − (1−P)δ), capped (1 − x^C)/(1 − x)",
  },
];

function dependenceWord(s) {
  return s === 1 ? "independent" : s < 1 ? "later steps safer" : "mistakes breed";
}

const MOST = 1e9;

/** Number fields. `otherwise` is what an empty field stands for. */
export const FIELDS = {
  calls_per_step: { about: "Calls of the loop a step", most: 100 },
  node_calls: { about: "Calls of a judgment node", most: 100 },
  loop_base: { about: "First prompt of the loop", otherwise: "tokens_per_step" },
  graph_base: { about: "First prompt of a judgment node", otherwise: "tokens_per_step" },
  loop_visible: { about: "Visible output of a loop’s call" },
  graph_visible: { about: "Visible output of a node’s call" },
  loop_result: { about: "Tool result in the loop", otherwise: "tokens_per_step" },
  graph_result: { about: "Tool result in a node", otherwise: "tokens_per_step" },
  loop_hidden: { about: "Hidden reasoning of a loop’s call" },
  graph_hidden: { about: "Hidden reasoning of a node’s call" },
  length_variance: { about: "Variance of the loop’s calls, σ²" },
  shared_reasoning: { about: "Reasoning that both must do, R" },
  cache_read: { about: "Cached token, d", most: 100 },
  cache_write: { about: "Token written, w", most: 100 },
  cache_minimum: { about: "Shortest prefix, M" },
  cache_hit: { about: "Chance of a hit, H", most: 1 },
  price_input: { about: "Input price", empty: "unknown" },
  price_output: { about: "Output price", empty: "unknown" },
  most_attempts: { about: "Most runs, C", empty: "any", least: 1, isWhole: true },
};

export const CONTEXT_ROWS = [
  ["calls a step · a node, κ", "calls_per_step", "node_calls"],
  ["first prompt, b", "loop_base", "graph_base"],
  ["visible output, v", "loop_visible", "graph_visible"],
  ["tool result, r", "loop_result", "graph_result"],
  ["hidden reasoning, h", "loop_hidden", "graph_hidden"],
];

/** A field's text as a value: `undefined` when it can't be one. */
export function readField(name, text) {
  const { most = MOST, least = 0, isWhole, otherwise, empty } = FIELDS[name];
  if (text.trim() === "") return otherwise || empty ? null : undefined;
  const value = Number(text);
  return value >= least && value <= most && (!isWhole || Number.isInteger(value)) ? value : undefined;
}

/** What a field shows while it is empty. */
export function placeholder(name, values) {
  const { otherwise, empty } = FIELDS[name];
  return otherwise ? formatAmount(values[otherwise]) : (empty ?? "");
}

export const FORMULAS = {
  contexts: "g = v + r · prompt κ·b + g·κ(κ−1)/2 · output κ·(v + h) · random length adds g·σ²/2 · both sides add R",
  caching: "a call repeats X and adds g: H·(d·X + w·g) + (1−H)·w·(X + g), from X ≥ M on",
  money: "(input price · input as paid + output price · output) / 10⁶",
  policies: "at the end T/P · at once Σ cₖ·Pₖ₋₁/Pₙ · from there Σ cₖ/pₖ · give up Σ cₖ·Pₖ₋₁",
};

export const COUNTING = [
  ["Loop: ", "every step is a call, and call k resends the k steps so far: t · n(n + 1)/2 tokens."],
  ["Graph: ", "m = ⌊j·n + ½⌋ judgment nodes, each seeing only its own input: t · m tokens."],
  ["Right path: ", "every call of the loop also chooses the next step, so pⁿ. A graph whose judgments all pick a route: pᵐ."],
  ["Best case: ", "a judgment that needs the whole history pays for it in a graph, too."],
  [
    "For scale: ",
    "in Google’s published refund example, six steps with two judgments, 56 % of the tokens were saved; this model " +
      "says about 90 %. It leaves out what both designs pay: fixed prompts, second calls after a tool, reasoning.",
  ],
  [
    "In detail: ",
    "the loop is one context of κ calls, the graph one for each judgment node; a context resends all that was added " +
      "to it. Nodes that pick a route are taken as the last ones, the dearest order for a new start.",
  ],
  [
    "Runs again: ",
    "each run is as likely right as the first. Trials of one task are in truth much alike, so a task that went wrong " +
      "once goes wrong again more often than this says.",
  ],
];
