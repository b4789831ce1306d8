/** The run as it stood at an earlier moment, read from the times of its node runs. */

import { duration } from "./words.js";

const ACTIVE = ["waiting", "running", "retrying", "gathering", "pending"];

/** A try and a wait as they are sent: see the kernel's `Span`. */
export const parts = ([path, place, kind, status, created, tries, waits, sources]) => ({
  path, place, kind, status, created, tries, waits, sources, start: tries[0]?.[0] ?? created,
});

/** Where one node run stood, `null` before it was there. */
function statusAt({ status, start, tries, waits }, time) {
  if (start > time) return null;
  if (waits.some(([asked, answered]) => asked <= time && (answered === null || answered > time))) return "waiting";
  let last = null;
  for (const one of tries) if (one[0] <= time) last = one;
  if (last === null) return status;
  const [, end, error, again] = last;
  if (end === null) return status;
  if (end > time) return "running";
  if (last === tries.at(-1)) return status;
  return error && again !== null ? "retrying" : "waiting";
}

/** What happened, in order: times with what to call them. */
export function momentsOf(state) {
  const found = [];
  const add = (time, text, place = "") => time !== null && time !== undefined && found.push({ time, text, place });
  for (const span of state.spans.values()) {
    const { place, start, tries, waits, status, path } = parts(span);
    const name = place.split("/").pop() || path.split("/").pop().split("@")[0];
    add(start, `${name} starts`, place);
    tries.forEach(([began, ended, error], index) => {
      if (index) add(began, `${name} goes on`, place);
      if (ended === null) return;
      const isLast = index === tries.length - 1;
      if (error) add(ended, `${name}: ${error}`, place);
      else if (isLast) add(ended, `${name} ${status}`, place);
    });
    for (const [asked, answered] of waits) {
      add(asked, `${name} asks`, place);
      add(answered, `${name} is answered`, place);
    }
  }
  const first = state.header.first_event;
  if (first !== null && first !== undefined) {
    for (const row of state.rows.values()) add(first + row[1], `event ${row[0]}: ${row[2]}, ${row[3]}`, row[7]);
  }
  found.sort((a, b) => a.time - b.time);
  // What happened at one time is one step.
  const steps = [];
  for (const moment of found) {
    const last = steps.at(-1);
    if (last && moment.time - last.time < 0.00005) {
      last.time = moment.time;
      last.texts.push(moment.text);
      last.place = moment.place || last.place;
    } else {
      steps.push({ time: moment.time, texts: [moment.text], place: moment.place });
    }
  }
  return steps;
}

/** The nodes and followed edges at a time, in the form of a state. */
export function stateAt(state, time) {
  const nodes = new Map();
  const edges = new Set();
  for (const span of state.spans.values()) {
    const run = parts(span);
    const status = statusAt(run, time);
    if (status === null) continue;
    for (const source of run.sources) edges.add(JSON.stringify([source, run.place]));
    const node = nodes.get(run.place) ?? { passes: 0, seconds: 0, statuses: [], failures: 0 };
    node.passes += 1;
    node.statuses.push(status);
    for (const [began, ended, error] of run.tries) {
      if (began > time) continue;
      node.seconds += Math.min(ended ?? time, time) - began;
      if (error && ended <= time) node.failures += 1;
    }
    nodes.set(run.place, node);
  }
  for (const node of nodes.values()) {
    node.status = ACTIVE.find((one) => node.statuses.includes(one)) ?? node.statuses.at(-1);
    node.since = null;
    const words = [];
    if (node.passes > 1) words.push(`${node.passes}×`);
    if (node.status === "completed") words.push(duration(node.seconds));
    else words.push(node.status === "retrying" ? "tries again" : node.status);
    if (node.failures) words.push(`${node.failures} failed`);
    node.detail = words.join(" · ");
  }
  return { nodes, edges };
}
