/**
 * Numbers and results as people read them: the words of `adk_nb.calculator`, sentence by sentence; a test compares both.
 *
 * @typedef {[text: string, isStrong?: boolean]} Phrase
 */

const ROUNDING_SLACK = 1e-9;
const LONGEST_SAID = 1e6;

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

function grouped(whole) {
  const digits = whole < 2 ** 53 ? String(whole) : BigInt(whole).toString();
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** An amount with thousands separators, and one decimal where it isn't whole. */
export function formatCount(count) {
  if (count >= 1e15) return grouped(Math.floor(count));
  const tenths = Math.floor(count * 10 + 0.5);
  return grouped(Math.floor(tenths / 10)) + (tenths % 10 ? `.${tenths % 10}` : "");
}

/** An amount that may be a mean: whole from 100 on, "never" for one that no run ever reaches. */
export function formatAmount(amount) {
  if (amount === Infinity) return "never";
  if (amount >= 1e15) return "> 10^15";
  if (amount >= 100) return formatCount(Math.floor(amount + 0.5 + ROUNDING_SLACK));
  return formatCount(amount + ROUNDING_SLACK);
}

/** A mean number of runs, with two decimals where they say something. */
export function formatRuns(attempts) {
  if (attempts >= 100) return formatAmount(attempts);
  const hundredths = Math.floor(attempts * 100 + 0.5 + ROUNDING_SLACK);
  return String(hundredths / 100);
}

/** US dollars: cents above a dollar, hundredths of cents below. */
export function formatMoney(dollars) {
  if (dollars === null) return "unknown";
  if (dollars === Infinity) return "never";
  if (dollars === 0) return "$0";
  if (dollars < 0.00005) return "< $0.0001";
  if (dollars >= 1e12) return `$${formatAmount(dollars)}`;
  const digits = dollars < 1 ? 4 : 2;
  const size = 10 ** digits;
  const units = Math.floor(dollars * size + 0.5 + ROUNDING_SLACK);
  return `$${grouped(Math.floor(units / size))}.${String(units % size).padStart(digits, "0")}`;
}

/** A saving, or what it costs more where it is none. */
export function formatSaving(share) {
  if (share >= 0) return formatPercent(share);
  return share > -1 ? `${formatPercent(-share)} more` : `${formatAmount(1 - share)} times as much`;
}

export function counted(count, thing) {
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

/** What each design uses in the extended model, in words. @returns {Phrase[]} */
export function detailedTokenPhrases(c) {
  if (c.process_length === 0) return [["A process without steps uses nothing either way."]];
  const calls = formatAmount(c.loop.calls);
  const said = [
    ["The loop uses "],
    [formatAmount(c.loop.tokens), true],
    [` tokens in ${calls} ${calls === "1" ? "call" : "calls"}`],
  ];
  if (c.graph.calls === 0) return [...said, [". The graph makes "], ["no model calls", true], [" and uses none."]];
  said.push([", the graph "], [formatAmount(c.graph.tokens), true], [` in ${formatAmount(c.graph.calls)}`]);
  return [...said, ...verdict(c), ...moneyPhrases(c)];
}

function verdict(c) {
  if (c.loop.tokens === c.graph.tokens) return [[": "], ["no saving", true], ["."]];
  if (c.loop.tokens === 0) return [["."]];
  if (c.saving < 0) return [[": "], [formatSaving(c.saving), true], ["."]];
  const saved = [formatPercent(c.saving), true];
  if (c.ratio < 1.95) return [[": a saving of "], saved, ["."]];
  return [[": "], [`${formatAmount(c.ratio)} times fewer`, true], [", a saving of "], saved, ["."]];
}

function moneyPhrases(c) {
  if (c.money_saving === null) return [];
  return [
    [" In money: "],
    [formatMoney(c.loop.money), true],
    [" and "],
    [formatMoney(c.graph.money), true],
    [`, ${formatSaving(c.money_saving)}${c.money_saving >= 0 ? " saved" : ""}.`],
  ];
}

/** How often each design is right in the extended model, in words. @returns {Phrase[]} */
export function detailedSuccessPhrases(c) {
  if (c.process_length === 0) return [["There is no turn to get wrong."]];
  const said = [
    ["The loop stays on the intended path "],
    [formatPercent(c.loop.success), true],
    [" of the time, the graph "],
  ];
  if (c.routing_nodes === 0) said.push(["always", true], [": no judgment of it picks a route."]);
  else {
    const picks = c.routing_nodes === 1 ? "picks a route" : "pick a route";
    said.push(
      [formatPercent(c.graph.success), true],
      [`: ${formatCount(c.routing_nodes)} of its ${formatCount(c.judgment_nodes)} judgments ${picks}.`],
    );
  }
  if (c.assumptions.detection === 0) return said;
  return [
    ...said,
    [" With the wrong runs that are noticed started again: "],
    [formatPercent(c.loop.right), true],
    [` after ${runs(c.loop.attempts)}, and `],
    [formatPercent(c.graph.right), true],
    [` after ${runs(c.graph.attempts)}.`],
  ];
}

function runs(attempts) {
  if (attempts === Infinity) return "any number of runs";
  const count = formatRuns(attempts);
  return `${count} ${count === "1" ? "run" : "runs"}`;
}

/** What mistakes cost the loop under each policy, in words. @returns {Phrase[]} */
export function mistakePhrases(c) {
  const { restart_at_end: atEnd, restart_at_once: atOnce, resume_there: there } = c.loop;
  if (atEnd === Infinity) return [["Tokens until the loop is right: "], ["never", true], [", it can’t be right."]];
  return [
    ["Tokens until the loop is right, by when a mistake is noticed: "],
    [formatAmount(atEnd), true],
    [" when it starts again at the end, "],
    [formatAmount(atOnce), true],
    [" at once, "],
    [formatAmount(there), true],
    [" when it goes on from there."],
  ];
}

/** The extended results as rows of text: what, loop, graph, saved. */
export function detailedRows(c) {
  const { loop, graph } = c;
  const saved = (amount, share) => (amount > 0 ? formatSaving(share) : "");
  const money = c.money_saving === null ? "" : saved(loop.money, c.money_saving);
  const amounts = [
    ["model calls", loop.calls, graph.calls, ""],
    ["prompt tokens", loop.prompt_tokens, graph.prompt_tokens, ""],
    ["output tokens", loop.output_tokens, graph.output_tokens, ""],
    ["tokens", loop.tokens, graph.tokens, saved(loop.tokens, c.saving)],
    ["input as paid", loop.input_equivalent, graph.input_equivalent, saved(loop.input_equivalent, c.input_saving)],
  ];
  const shares = [
    ["right path", loop.success, graph.success],
    ["right in the end", loop.right, graph.right],
    ["wrong, unnoticed", loop.shipped_wrong, graph.shipped_wrong],
    ["given up", loop.given_up, graph.given_up],
  ];
  return [
    ...amounts.map(([name, one, other, share]) => [name, formatAmount(one), formatAmount(other), share]),
    ["money, a run", formatMoney(loop.money), formatMoney(graph.money), money],
    ...shares.map(([name, one, other]) => [name, formatPercent(one), formatPercent(other), ""]),
    ["runs", formatRuns(loop.attempts), formatRuns(graph.attempts), ""],
    ["tokens, all runs", formatAmount(loop.tokens_with_attempts), formatAmount(graph.tokens_with_attempts), ""],
  ];
}

/** What mistakes cost under each policy as rows of text: policy, loop, graph. */
export function policyRows({ loop, graph }) {
  return [
    ["noticed at the end, start again", "restart_at_end"],
    ["noticed at once, start again", "restart_at_once"],
    ["noticed at once, go on from there", "resume_there"],
    ["noticed at once, give up", "abort_at_once"],
  ].map(([name, key]) => [name, formatAmount(loop[key]), formatAmount(graph[key])]);
}
