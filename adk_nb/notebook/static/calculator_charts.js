/** The calculator's drawings: lines over process length, and the loop's calls as columns. */

import { counted, formatCount } from "./calculator_words.js";

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function short(count) {
  for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
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

/** Where values stand between 0 and 1, and what the axis says: in equal steps, or in powers of ten. */
function scale(top, label, low) {
  if (low === undefined) {
    return { place: (value) => Math.min(value / top, 1), ticks: [[1, label(top)], [0.5, label(top / 2)], [0, "0"]] };
  }
  const [first, last] = [Math.floor(Math.log10(low)), Math.max(Math.ceil(Math.log10(top)), Math.floor(Math.log10(low)) + 1)];
  const stride = Math.ceil((last - first) / 4);
  const ticks = [];
  for (let power = first; power <= last; power += stride) ticks.push([(power - first) / (last - first), label(10 ** power)]);
  const place = (value) => Math.min(Math.max((Math.log10(Math.max(value, 1e-300)) - first) / (last - first), 0), 1);
  return { place, ticks };
}

/**
 * Lines over process length, each named at its end, with the current length marked.
 * @param {{width: number, length: number, last: number, top: number, low?: number, label: (value: number) => string,
 *   about: string, lines: {name: string, kind: string, thin?: boolean, at: (n: number) => number}[]}} options
 *   with `low` the axis is in powers of ten
 */
export function chart({ width, length, last, top, low, label, about, lines }) {
  const [left, right, upper, lower] = [38, width - 72, 8, 124];
  const { place, ticks } = scale(top, label, low);
  const x = (n) => left + ((n - 1) / (last - 1)) * (right - left);
  const y = (value) => lower - place(value) * (lower - upper);
  const stops = Array.from({ length: Math.min(last, 100) }, (_, i) =>
    last <= 100 ? i + 1 : Math.round(1 + (i / 99) * (last - 1)),
  );
  const parts = [svg("path", { class: "adknb-calc-axis", d: `M${left} ${upper}V${lower}H${right}` })];
  for (const [part, text] of ticks) {
    const height = lower - part * (lower - upper);
    if (part > 0 && part < 1) parts.push(svg("path", { class: "adknb-calc-grid", d: `M${left} ${height}H${right}` }));
    parts.push(svg("text", { x: left - 5, y: height + 4, "text-anchor": "end" }, text));
  }
  if (length >= 1) parts.push(svg("path", { class: "adknb-calc-now", d: `M${x(length)} ${upper}V${lower}` }));
  for (const { kind, thin, at } of lines) {
    const d = stops.map((n, i) => `${i ? "L" : "M"}${x(n).toFixed(1)} ${y(at(n)).toFixed(1)}`).join("");
    parts.push(svg("path", { class: `adknb-calc-line adknb-calc-stroke-${kind}${thin ? " adknb-calc-thin" : ""}`, d }));
    if (length >= 1 && !thin) {
      parts.push(svg("circle", { class: `adknb-calc-fill-${kind}`, cx: x(length), cy: y(at(length)), r: 3.5 }));
    }
  }
  const named = lines.map(({ name, kind, at }) => ({ name, kind, y: y(at(last)) + 4 }));
  for (const found of spread(named, upper + 4, lower + 2)) {
    parts.push(svg("text", { class: `adknb-calc-fill-${found.kind}`, x: right + 6, y: found.y }, found.name));
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
export function calls(width, c) {
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
