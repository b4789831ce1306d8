/** What is known of the run: a snapshot, and what batches make of it. */

const ROWS_HELD = 10_000;
const DETAILS_ASKED = 200;

export class RunState {
  /** @param {Snapshot} snapshot */
  constructor(snapshot) {
    this.details = new Map();
    this.asked = new Set();
    this.reset(snapshot);
  }

  reset(snapshot) {
    this.seq = snapshot.seq;
    this.header = snapshot.header;
    this.nodes = new Map(Object.entries(snapshot.nodes));
    this.edges = new Set(snapshot.edges.map((edge) => JSON.stringify(edge)));
    const older = this.rows ?? new Map();
    this.rows = new Map(snapshot.rows.map((row) => [row[0], row]));
    // What was asked for before stays: a snapshot holds the newest rows only.
    const first = snapshot.rows[0]?.[0] ?? 1;
    for (const [number, row] of older) if (number < first) this.rows.set(number, row);
    this.rowCount = snapshot.row_count ?? this.rows.size;
    this.spans = new Map((snapshot.spans ?? []).map((span) => [span[0], span]));
    this.calls = new Map((snapshot.calls ?? []).map((call) => [call[0], call]));
    this.log = new Map((snapshot.log ?? []).map((line) => [line[0], line]));
    this.startState = snapshot.start_state ?? {};
    this.takeDetails(snapshot.details ?? {});
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
    for (const span of changes.spans ?? []) this.spans.set(span[0], span);
    for (const call of changes.calls ?? []) this.calls.set(call[0], call);
    for (const line of changes.log ?? []) this.log.set(line[0], line);
    this.rowCount = changes.row_count ?? this.rowCount;
    for (const row of changes.rows ?? []) {
      this.rows.set(row[0], row);
      this.forget(row[0]); // it says more than it did
    }
    const tooMany = this.rows.size - ROWS_HELD;
    if (tooMany > 0) {
      for (const number of [...this.rows.keys()].sort((a, b) => a - b).slice(0, tooMany)) {
        this.rows.delete(number);
        this.forget(number);
      }
    }
    for (const question of changes.questions ?? []) this.questions.set(question.key, question);
    if ("result" in changes) this.result = changes.result;
    if ("error" in changes) this.error = changes.error;
    if (changes.warnings) this.warnings = changes.warnings;
    return isGap;
  }

  forget(number) {
    this.details.delete(number);
    this.asked.delete(number);
  }

  takeRows(rows) {
    for (const row of rows) if (!this.rows.has(row[0])) this.rows.set(row[0], row);
  }

  takeDetails(details) {
    for (const [number, event] of Object.entries(details)) {
      this.details.set(Number(number), event);
      this.asked.delete(Number(number));
    }
  }

  /** The oldest row that is held, where the kernel has older ones; nothing when all are here. */
  get missingBefore() {
    if (this.rows.size >= Math.min(this.rowCount, ROWS_HELD)) return null;
    let first = Infinity;
    for (const number of this.rows.keys()) first = Math.min(first, number);
    return first > 1 ? first : null;
  }

  /** The numbers of rows, in order. */
  get numbers() {
    return [...this.rows.keys()].sort((a, b) => a - b);
  }

  /** Ask the kernel for the events behind some rows, as far as they aren't here; says how many are missing. */
  need(numbers, port) {
    const missing = numbers.filter((number) => !this.details.has(number));
    const unasked = missing.filter((number) => !this.asked.has(number)).slice(-DETAILS_ASKED);
    if (port && unasked.length && this.asked.size < DETAILS_ASKED) {
      for (const number of unasked) this.asked.add(number);
      port.send({ kind: "details", numbers: unasked });
    }
    return missing.length;
  }
}
