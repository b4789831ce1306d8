/**
 * The calculator's arithmetic, line by line that of `adk_nb.calculator`; a test compares both, value by value.
 *
 * @typedef {{process_length: number, judgment_share: number, routing_accuracy: number, tokens_per_step: number}} Values
 *   the four numbers of the simple model; the extended model's inputs stand beside them, see ASSUMPTIONS
 */

const COUNT_SLACK = 1e-12;
const JUST_BELOW_ONE = 1 - Number.EPSILON / 2;

/** The extended model's inputs with their defaults; null means "as the simple model". */
export const ASSUMPTIONS = {
  calls_per_step: 1,
  closing_call: false,
  length_variance: 0,
  loop_base: null,
  loop_visible: 0,
  loop_result: null,
  loop_hidden: 0,
  node_calls: 1,
  graph_base: null,
  graph_visible: 0,
  graph_result: null,
  graph_hidden: 0,
  shared_reasoning: 0,
  cache_read: 1,
  cache_write: 1,
  cache_minimum: 0,
  cache_hit: 1,
  price_input: null,
  price_output: null,
  judge_accuracy: null,
  route_share: 1,
  dependence: 1,
  detection: 0,
  most_attempts: null,
};

/** Steps that call a model in a graph: the share of the steps, halves up, at least one. */
export function judgmentNodes(n, j) {
  if (n === 0 || j === 0) return 0;
  return Math.min(Math.max(Math.floor(j * n * (1 + COUNT_SLACK) + 0.5), 1), n);
}

/** Chance that all of `choices` choices are right; `dependence` is 1 when mistakes are independent. */
export function pathSuccess(choices, accuracy, dependence = 1) {
  if (choices === 0 || accuracy === 1) return 1;
  if (accuracy === 0) return 0;
  const weight = dependence === 1 ? choices : choices ** dependence;
  return Math.min(Math.max(Math.exp(weight * Math.log(accuracy)), Number.MIN_VALUE), JUST_BELOW_ONE);
}

function saving(loop, graph) {
  if (loop === 0) return 0;
  return graph > 0 ? Math.min(1 - graph / loop, JUST_BELOW_ONE) : 1;
}

function ratio(loop, graph) {
  if (graph === 0) return loop > 0 ? Infinity : 1;
  return loop / graph;
}

function horizon(p, dependence = 1) {
  if (p === 1) return Infinity;
  if (p === 0) return 0;
  const steps = Math.log(0.5) / Math.log(p);
  return dependence === 1 ? steps : steps ** (1 / dependence);
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
    loop_success: pathSuccess(n, p),
    graph_success: pathSuccess(m, p),
    graph_success_exact: 1,
    horizon: horizon(p),
  };
}

/* A context is one conversation: calls, base (first prompt), visible, result, hidden, variance; see Python's `Context`. */

function leastVariance(mean) {
  const part = mean - Math.floor(mean);
  return part * (1 - part);
}

function context(calls, base, visible, result, hidden, variance = 0) {
  const growth = visible + result;
  const spread = Math.max(variance, leastVariance(calls));
  return {
    calls,
    base,
    growth,
    spread,
    perCall: base + visible + hidden,
    sent: calls * base + growth * ((calls * calls - calls + spread) / 2),
    written: calls * (visible + hidden),
  };
}

function firstReading({ base, growth }, minimum) {
  if (base >= minimum) return 2;
  if (growth === 0) return Infinity;
  const steps = (minimum - base) / growth;
  if (steps > 1e15) return Infinity;
  const call = 2 + Math.ceil(steps);
  if (base + (call - 3) * growth >= minimum) return call - 1;
  return base + (call - 2) * growth >= minimum ? call : call + 1;
}

function cachedCalls(calls, { base, growth }, cache, reading) {
  if (calls === 0) return 0;
  const plain = Math.min(calls, reading - 2);
  let counted = plain * base + growth * ((plain * (plain - 1)) / 2);
  if (calls < reading - 1) return counted;
  counted += cache.write * (base + growth * (reading - 2));
  const readers = calls - (reading - 1);
  const repeated = readers * base + growth * (readers * (reading - 2) + (readers * (readers - 1)) / 2);
  const hits = cache.read * repeated + cache.write * (growth * readers);
  const misses = cache.write * (repeated + growth * readers);
  return counted + cache.hit * hits + (1 - cache.hit) * misses;
}

function inputEquivalent(talk, cache) {
  if (talk.calls === 0) return 0;
  const whole = Math.floor(talk.calls);
  const part = talk.calls - whole;
  const reading = firstReading(talk, cache.minimum);
  let counted = cachedCalls(whole, talk, cache, reading);
  if (part > 0) counted = (1 - part) * counted + part * cachedCalls(whole + 1, talk, cache, reading);
  const beyond = talk.spread - leastVariance(talk.calls);
  if (beyond <= 0) return counted;
  const last = Math.ceil(talk.calls);
  const reads = cache.hit * cache.read + (1 - cache.hit) * cache.write;
  const rate = last >= reading ? reads : last === reading - 1 ? cache.write : 1;
  return counted + (talk.growth * rate * beyond) / 2;
}

/** Runs until a task ends, and how it ends, when a wrong run is noticed and started again. */
export function attempts(right, noticed, cap) {
  const stays = 1 - noticed + right * noticed;
  if (stays === 0) {
    return { attempts: cap === null ? Infinity : cap, right: 0, shipped_wrong: 0, given_up: cap === null ? 0 : 1 };
  }
  const left = cap === null || stays >= 1 ? 0 : Math.exp(cap * Math.log1p(-stays));
  const ended = left < 0.5 ? 1 - left : -Math.expm1((cap ?? 1) * Math.log1p(-stays));
  return {
    attempts: ended / stays,
    right: Math.min((right / stays) * ended, 1),
    shipped_wrong: Math.min((((1 - right) * (1 - noticed)) / stays) * ended, 1),
    given_up: left,
  };
}

const over = (tokens, chance) => (tokens === 0 ? 0 : chance === 0 ? Infinity : tokens / chance);
const times = (count, amount) => (amount === 0 ? 0 : count * amount);

/** Chances by number of choices, worked out once for all lengths of a chart: of all of them, and of each alone. */
const known = new Map();

function chances(count, p, s) {
  const key = `${p} ${s}`;
  if (!known.has(key)) {
    if (known.size > 3) known.clear();
    known.set(key, { all: [1], each: [] });
  }
  const found = known.get(key);
  const weight = (step) => (s === 1 ? step : step ** s);
  for (let k = found.each.length; k < count; k++) {
    found.each.push(p === 0 || p === 1 ? p : Math.exp((weight(k + 1) - weight(k)) * Math.log(p)));
    found.all.push(pathSuccess(k + 1, p, s));
  }
  return found;
}

function policies(costs, p, s, before, after) {
  const { all, each } = chances(costs.length, p, s);
  const reached = all[costs.length];
  let [oneTry, there, total] = [before, before, before];
  for (let k = 0; k < costs.length; k++) {
    total += costs[k];
    oneTry += costs[k] * all[k];
    there += over(costs[k], each[k]);
  }
  return {
    restart_at_end: over(total + after, reached),
    restart_at_once: over(oneTry, reached) + after,
    resume_there: there + after,
    abort_at_once: oneTry + after * reached,
  };
}

function firstCalls(calls, { perCall, growth }) {
  const whole = Math.floor(calls);
  return calls * perCall + growth * ((whole * (whole - 1)) / 2 + (calls - whole) * whole);
}

function loopCourse(steps, talk, callsPerStep) {
  const whole = firstCalls(talk.calls, talk);
  if (whole === 0) return { before: 0, choices: Array(steps).fill(1 / steps), after: 0 };
  const choices = [];
  let reached = 0;
  for (let step = 1; step <= steps; step++) {
    const then = firstCalls(callsPerStep * step, talk);
    choices.push((then - reached) / whole);
    reached = then;
  }
  return { before: 0, choices, after: (whole - reached) / whole };
}

function graphCourse(nodes, routing) {
  if (nodes === 0) return { before: 0, choices: [], after: 0 };
  return { before: (nodes - routing) / nodes, choices: Array(routing).fill(1 / nodes), after: 0 };
}

function design(talk, contexts, course, accuracy, given) {
  const calls = contexts * talk.calls;
  const sent = contexts * talk.sent;
  const written = contexts * talk.written + (calls > 0 ? given.shared_reasoning : 0);
  const total = sent + written;
  const cache = {
    read: given.cache_read,
    write: given.cache_write,
    minimum: given.cache_minimum,
    hit: given.cache_hit,
  };
  const counted = contexts * inputEquivalent(talk, cache);
  const isPriced = given.price_input !== null && given.price_output !== null;
  const money = isPriced ? (given.price_input * counted + given.price_output * written) / 1e6 : null;
  const success = pathSuccess(course.choices.length, accuracy, given.dependence);
  const tries = attempts(success, given.detection, given.most_attempts);
  const costs = course.choices.map((share) => total * share);
  return {
    calls,
    prompt_tokens: sent,
    output_tokens: written,
    tokens: total,
    input_equivalent: counted,
    money,
    success,
    attempts: tries.attempts,
    tokens_with_attempts: times(tries.attempts, total),
    money_with_attempts: money === null ? null : times(tries.attempts, money),
    right: tries.right,
    shipped_wrong: tries.shipped_wrong,
    given_up: tries.given_up,
    ...policies(costs, accuracy, given.dependence, total * course.before, total * course.after),
  };
}

/** The extended model, under the names of Python's `DetailedComparison`. @param {Values} values */
export function compareInDetail(values) {
  const given = { ...ASSUMPTIONS, ...values };
  const { process_length: n, judgment_share: j, routing_accuracy: p, tokens_per_step: t } = given;
  const m = judgmentNodes(n, j);
  const routing = judgmentNodes(m, given.route_share);
  const talk = n
    ? context(
        given.calls_per_step * n + (given.closing_call ? 1 : 0),
        given.loop_base ?? t,
        given.loop_visible,
        given.loop_result ?? t,
        given.loop_hidden,
        given.length_variance,
      )
    : context(0, 0, 0, 0, 0);
  const node = context(
    given.node_calls,
    given.graph_base ?? t,
    given.graph_visible,
    given.graph_result ?? t,
    given.graph_hidden,
  );
  const loop = design(talk, 1, loopCourse(n, talk, given.calls_per_step), p, given);
  const graph = design(node, m, graphCourse(m, routing), given.judge_accuracy ?? p, given);
  const [loopAlone, nodeAlone] = [talk.sent + talk.written, node.sent + node.written];
  return {
    process_length: n,
    judgment_share: j,
    routing_accuracy: p,
    tokens_per_step: t,
    assumptions: Object.fromEntries(Object.keys(ASSUMPTIONS).map((name) => [name, given[name]])),
    judgment_nodes: m,
    routing_nodes: routing,
    loop,
    graph,
    graph_success_exact: 1,
    saving: saving(loop.tokens, graph.tokens),
    ratio: ratio(loop.tokens, graph.tokens),
    input_saving: saving(loop.input_equivalent, graph.input_equivalent),
    money_saving: loop.money === null ? null : saving(loop.money, graph.money),
    break_even_nodes: nodeAlone === 0 ? (loopAlone > 0 ? Infinity : 0) : loopAlone / nodeAlone,
    horizon: horizon(p, given.dependence),
  };
}
