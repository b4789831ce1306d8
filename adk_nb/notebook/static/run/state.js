/** What is known of the run: a snapshot, and what batches make of it. */

const ROWS_HELD = 1000;

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
