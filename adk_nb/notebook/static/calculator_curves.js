/**
 * The curves over process length: tokens, the intended path, and what mistakes cost.
 *
 * @typedef {import("./calculator_model.js").Values} Values
 * @typedef {{tokens: string, success: string}} Said what the sentences beside them say, for who can't see them
 * @typedef {{tokens: number, success: number, policies: number}} Widths
 */

import { compareDesigns, compareInDetail } from "./calculator_model.js";
import { mistakePhrases } from "./calculator_words.js";
import { chart, short } from "./calculator_charts.js";

/** The same values again, without working anything out twice. */
function remembered(work) {
  const known = new Map();
  return (n) => {
    if (!known.has(n)) known.set(n, work(n));
    return known.get(n);
  };
}

/** @param {Values} values @param {number} last @param {Said} said @param {Widths} widths */
export function simpleCurves(values, last, said, widths) {
  const at = remembered((n) => compareDesigns({ ...values, process_length: n }));
  const length = values.process_length;
  return {
    tokens: tokenCurve(widths.tokens, length, last, said.tokens, (n) => at(n).loop_tokens, (n) => at(n).graph_tokens),
    success: pathCurve(widths.success, length, last, said.success, (n) => at(n).loop_success, (n) => at(n).graph_success),
  };
}

/** The same in the extended model, with what mistakes cost beside it. */
export function detailedCurves(values, last, said, widths) {
  const at = remembered((n) => compareInDetail({ ...values, process_length: n }));
  const length = values.process_length;
  return {
    tokens: tokenCurve(widths.tokens, length, last, said.tokens, (n) => at(n).loop.tokens, (n) => at(n).graph.tokens),
    success: pathCurve(widths.success, length, last, said.success, (n) => at(n).loop.success, (n) => at(n).graph.success),
    policies: policyCurve(widths.policies, length, last, at),
  };
}

function tokenCurve(width, length, last, said, loop, graph) {
  const top = Math.max(loop(last), graph(last));
  return chart({
    width,
    length,
    last,
    top: top || 1,
    label: (value) => (top ? short(value) : ""),
    about: `Tokens over process length. ${said}`,
    lines: [
      { name: "agent loop", kind: "loop", at: loop },
      { name: "graph", kind: "graph", at: graph },
    ],
  });
}

function pathCurve(width, length, last, said, loop, graph) {
  return chart({
    width,
    length,
    last,
    top: 1,
    label: (value) => `${value * 100} %`,
    about: `Chance of the intended path over process length. ${said}`,
    lines: [
      { name: "exact edges", kind: "graph", thin: true, at: () => 1 },
      { name: "graph", kind: "graph", at: graph },
      { name: "agent loop", kind: "loop", at: loop },
    ],
  });
}

/** Tokens until it is right, in powers of ten; nothing when it can't be. */
function policyCurve(width, length, last, at) {
  const lines = [
    { name: "start again", kind: "bad", at: (n) => at(n).loop.restart_at_end },
    { name: "at once", kind: "wait", at: (n) => at(n).loop.restart_at_once },
    { name: "go on", kind: "loop", at: (n) => at(n).loop.resume_there },
    { name: "graph, go on", kind: "graph", thin: true, at: (n) => at(n).graph.resume_there },
  ];
  const ends = lines.flatMap((line) => [line.at(1), line.at(last)]).filter((value) => value > 0 && value < Infinity);
  if (!ends.length) return null;
  const low = Math.max(Math.min(...ends), 1);
  const top = Math.min(Math.max(...ends, low * 10), low * 1e6);
  const said = mistakePhrases(at(length)).map(([text]) => text).join("");
  const about = `Tokens until the loop is right, over process length. ${said}`;
  return chart({ width, length, last, top, low, label: short, about, lines });
}
