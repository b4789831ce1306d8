/** The conversation: what the user, agents and tools said, tool calls folded, whatever streams growing in its place. */

import { html } from "./elements.js";
import { proseView } from "./prose.js";
import { valueView } from "./value_view.js";
import { said } from "./values.js";

/** More than a person reads at once takes longer to draw than a tab may take to answer. */
const SHOWN = 120;
const SPOKEN = new Set(["message", "partial", "call", "reply", "question", "answer", "output", "error", "route"]);
const OWN = { adk_request_input: 1, adk_request_confirmation: 1, adk_request_credential: 1 };

export class Messages {
  constructor() {
    this.name = "Messages";
    this.tools = [];
    this.until = null;
    this.drawn = new Map();
    this.element = html("div", "adknb-run-panel adknb-run-talk");
    this.element.tabIndex = 0;
  }

  draw(state, port) {
    const fits = (row) => SPOKEN.has(row[3].split(" ", 1)[0]) && (this.until === null || row[1] <= this.until);
    const all = [...state.rows.values()].filter(fits).sort((a, b) => a[0] - b[0]);
    const rows = all.slice(-SHOWN);
    const missing = state.need(rows.map((row) => row[0]), port);
    const isAtEnd = this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 12;
    const events = rows.map((row) => [row, state.details.get(row[0])]);
    const replies = new Map();
    for (const [, event] of events) {
      for (const part of event?.content?.parts ?? []) {
        const reply = part.function_response;
        if (reply?.id) replies.set(reply.id, reply);
      }
    }
    const parts = [];
    if (all.length > rows.length) parts.push(html("p", "adknb-run-soft", `${all.length - rows.length} earlier ones are in the events.`));
    const kept = new Map();
    for (const [row, event] of events) {
      const answered = calls(event).map((one) => replies.has(one.id));
      const key = `${row[3]} ${row[4]} ${Boolean(event)} ${answered}`;
      const old = this.drawn.get(row[0]);
      // A part that stays as it is stays itself, so that what a person has opened stays open.
      const element = old?.key === key && row[3] !== "partial" ? old.element : turnView(row, event, replies);
      kept.set(row[0], { key, element });
      if (element) parts.push(element);
    }
    this.drawn = kept;
    if (!parts.length) parts.push(html("p", "adknb-run-soft", "Nobody has said anything yet."));
    if (missing && !port) parts.push(html("p", "adknb-run-soft", `${missing} messages aren't whole in this copy.`));
    this.element.replaceChildren(...parts);
    if (isAtEnd) this.element.scrollTop = this.element.scrollHeight;
  }
}

const calls = (event) => (event?.content?.parts ?? []).map((part) => part.function_call).filter(Boolean);

/** One event as a turn of the conversation; nothing where it only carries what another turn shows. */
function turnView([number, , node, kind, what, tokens], event, replies) {
  const isUser = node === "user";
  const pieces = [];
  if (!event) {
    pieces.push(html("div", "adknb-run-text", what));
  } else if (kind === "error") {
    pieces.push(html("div", "adknb-run-bad", what));
  } else {
    for (const part of event.content?.parts ?? []) pieces.push(...partView(part, replies, kind));
    if (!event.content && event.output !== undefined && event.output !== null) {
      pieces.push(foldedView(`returns ${said(event.output).slice(0, 90)}`, event.output));
    }
  }
  if (!pieces.length) return null;
  if (kind === "partial") pieces.at(-1).classList.add("adknb-run-growing");
  const who = html("div", "adknb-run-who", html("b", "", node));
  if (tokens !== null) who.append(html("span", "adknb-run-soft", ` ${tokens.toLocaleString("en")} tokens`));
  const box = html("div", `adknb-run-turn${isUser ? " adknb-run-mine" : ""}`, who, ...pieces);
  box.dataset.number = number;
  return box;
}

function partView(part, replies, kind) {
  if (part.function_call) return callTurn(part.function_call, replies);
  if (part.function_response) {
    if (kind !== "answer") return []; // shown with its call
    const { response } = part.function_response;
    const given = response?.result ?? response?.response ?? response ?? null;
    if (typeof given?.confirmed === "boolean") {
      const word = html("div", "adknb-run-given", given.confirmed ? "Approved" : "Rejected");
      word.classList.toggle("adknb-run-refused", !given.confirmed);
      return given.payload === null || given.payload === undefined ? [word] : [word, valueView(given.payload)];
    }
    return [html("div", "adknb-run-text", said(given))];
  }
  if (part.text) {
    if (part.thought) return [foldedView("thought", part.text)];
    return [proseView(part.text)];
  }
  const file = part.inline_data?.mime_type ?? part.file_data?.file_uri;
  return file ? [html("div", "adknb-run-soft", file)] : [];
}

function callTurn(call, replies) {
  const { name, args, id } = call;
  if (name === "transfer_to_agent") {
    return [html("div", "adknb-run-over", "hands over to ", html("b", "", String(args?.agent_name ?? "")))];
  }
  if (OWN[name]) {
    const text = args?.message || args?.toolConfirmation?.hint || "asks for an answer";
    return [html("div", "adknb-run-asks", text)];
  }
  const reply = replies.get(id);
  const gist = Object.entries(args ?? {}).map(([key, value]) => `${key}: ${said(value)}`).join(", ");
  const result = reply?.response?.result ?? reply?.response;
  const head = html("summary", "", html("code", "", `${name}(${gist.slice(0, 120)})`));
  if (reply) head.append(html("span", "adknb-run-soft", ` → ${said(result).slice(0, 90)}`));
  const box = html("details", "adknb-run-tool", head, html("div", "adknb-run-inside", valueView(args ?? {})));
  if (reply) box.lastChild.append(html("div", "adknb-run-soft", "gave back"), valueView(result ?? null));
  return [box];
}

function foldedView(label, value) {
  return html("details", "adknb-run-tool", html("summary", "", label), html("div", "adknb-run-inside", valueView(value)));
}
