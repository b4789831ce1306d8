/** One chat on a page: status line, conversation, message box. */

import { ApprovalForm, approvalTitle } from "./approval.js";
import { button, html, keepKeys, visible } from "./elements.js";
import { QuestionForm } from "./form.js";
import { proseView, titleView } from "./prose.js";
import { givenWord } from "./side.js";
import { valueView } from "./value_view.js";
import { count } from "./words.js";

const CHAT_WORDS = {
  idle: "ready",
  completed: "ready",
  waiting: "waiting for you",
  running: "replying",
  stopped: "stopped at a limit",
  cancelled: "stopped",
};
const UNSENT = "This can't be answered here any more: the kernel that asked is gone.";

/** Which chats had the cursor in their message box: a copy that takes another's place goes on with it. */
const typing = (globalThis[Symbol.for("adk_nb.typing")] ??= new Set());

export class ChatView {
  /** @param {HTMLElement} root @param {string} key @param {object} snapshot @param {string} [styles] */
  constructor(root, key, snapshot, styles = "") {
    this.root = root;
    this.key = key;
    this.port = null;
    this.lost = "";
    this.elements = new Map();
    this.forms = new Map();
    this.pillText = html("span");
    this.pill = html("span", "adknb-run-pill", html("i", "adknb-run-dot"), this.pillText);
    this.pill.setAttribute("role", "status");
    this.name = html("b");
    this.counts = html("span", "adknb-run-num adknb-run-counts");
    this.log = html("div", "adknb-chat-log");
    this.log.setAttribute("role", "log");
    this.log.setAttribute("aria-label", "Conversation");
    this.log.tabIndex = 0;
    this.log.addEventListener("scroll", () => {
      this.isAtEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 24;
    });
    this.isAtEnd = true;
    this.empty = html("p", "adknb-run-soft", "Nothing was said yet.");
    this.makeBox();
    const sheet = styles ? [html("style", "", styles)] : [];
    const bar = html("div", "adknb-run-bar", this.pill, this.name, this.counts);
    root.replaceChildren(...sheet, bar, this.log, this.box);
    keepKeys(root);
    this.reset(snapshot);
  }

  makeBox() {
    this.area = html("textarea", "adknb-run-in adknb-chat-in");
    this.area.rows = 1;
    this.area.setAttribute("aria-label", "Message");
    this.send = button("Send", "adknb-run-primary", () => this.say());
    this.stop = button("Stop", "", () => this.port?.send({ kind: "stop" }));
    this.bad = html("div", "adknb-run-bad");
    this.bad.setAttribute("role", "alert");
    this.box = html("div", "adknb-chat-box", this.area, this.send, this.stop, this.bad);
    this.area.addEventListener("input", () => {
      this.grow();
      this.port?.draft("", this.area.value);
      this.send.disabled = !this.canSay;
    });
    // Enter sends; Shift+Enter starts a new line; Escape stops a reply.
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.stop.hidden) return this.stop.click();
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.say();
    });
    this.area.addEventListener("focus", () => typing.add(this.key));
    this.area.addEventListener("blur", () =>
      setTimeout(() => {
        if (this.root.isConnected) typing.delete(this.key);
      }),
    );
  }

  grow() {
    this.area.style.height = "auto";
    if (this.area.scrollHeight) this.area.style.height = `${Math.min(this.area.scrollHeight + 2, 160)}px`;
  }

  get isWaitingForForm() {
    return this.header.status === "waiting" && this.header.open > 0;
  }

  get canSay() {
    return Boolean(this.port) && !this.lost && this.header.status !== "running" && !this.isWaitingForForm
      && this.area.value.trim() !== "";
  }

  say() {
    if (!this.canSay) return;
    this.bad.textContent = "";
    this.port.send({ kind: "say", text: this.area.value });
    this.area.value = "";
    this.port.draft("", "");
    this.grow();
    this.isAtEnd = true;
    this.send.disabled = true;
  }

  /** Everything anew. */
  reset(snapshot) {
    this.seq = snapshot.seq;
    this.header = snapshot.header;
    this.items = new Map(snapshot.items.map((item) => [item.n, item]));
    this.elements.clear();
    this.log.replaceChildren();
    this.draw(this.items.keys());
  }

  takeSnapshot({ snapshot }) {
    if (snapshot.seq < this.seq) return;
    if (snapshot.seq === this.seq && this.items.size === snapshot.items.length) return;
    this.reset(snapshot);
  }

  /** Take a batch in; says whether one before it is missing. */
  takeBatch({ changes }) {
    let isGap = changes.seq > this.seq + 1;
    this.seq = Math.max(this.seq, changes.seq);
    this.header = changes.header;
    const changed = new Set();
    for (const item of changes.items) {
      this.items.set(item.n, item);
      changed.add(item.n);
    }
    for (const [n, from, text] of changes.pieces) {
      const item = this.items.get(n);
      if (!item || item.text.length < from) isGap = true;
      else if (item.text.length === from) item.text += text;
      changed.add(n);
    }
    this.draw(changed);
    return isGap;
  }

  connect(port) {
    this.port = port;
    if (port) {
      if (!this.area.value) this.area.value = port.drafts()[""] ?? "";
      this.grow();
    }
    this.forms.clear();
    const open = [...this.items.values()].filter((item) => item.kind === "question" && item.question.answered === null);
    this.draw(open.map((item) => item.n));
    if (port && typing.has(this.key)) this.area.focus({ preventScroll: true });
  }

  lose(word) {
    this.lost = word;
    for (const form of this.forms.values()) form.lose(UNSENT);
    this.draw([]);
  }

  takeAnswer(message) {
    if (message.kind === "errors") this.showErrors(message);
  }

  showErrors({ key, errors }) {
    if (key) this.forms.get(key)?.showErrors(errors);
    else this.bad.textContent = visible(Object.values(errors).join(" "));
    this.send.disabled = !this.canSay;
  }

  draw(numbers) {
    const { header } = this;
    const isSaved = !this.port && ["idle", "completed"].includes(header.status);
    const word = this.lost || (isSaved ? "saved" : (CHAT_WORDS[header.status] ?? header.status));
    // Written only when it changes: a screen reader speaks every change.
    if (this.pillText.textContent !== word) this.pillText.textContent = word;
    this.pill.dataset.status = this.lost ? "lost" : header.status;
    this.name.textContent = visible(header.name);
    this.counts.replaceChildren(...(header.tokens ? [html("span", "", count(header.tokens, "token"))] : []));
    for (const n of numbers) this.drawItem(n);
    const isRunning = header.status === "running";
    this.box.hidden = !this.port && !this.lost;
    this.stop.hidden = !isRunning || Boolean(this.lost);
    this.send.hidden = isRunning && !this.lost;
    this.send.disabled = !this.canSay;
    this.area.disabled = Boolean(this.lost);
    this.area.placeholder = this.lost
      ? `The ${this.lost}: run the cell again to go on.`
      : this.isWaitingForForm
        ? "Answer the question above to go on"
        : `Message ${header.name}`;
    if (this.items.size) this.empty.remove();
    else this.log.append(this.empty);
    if (this.isAtEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  drawItem(n) {
    const item = this.items.get(n);
    if (!item) return;
    const old = this.elements.get(n);
    if (old && item.kind === "agent") {
      old.lastChild.replaceWith(proseView(item.text));
      old.classList.toggle("adknb-chat-partial", item.is_partial);
      return;
    }
    const element = this.element(item);
    if (old?.open) element.open = true;
    this.elements.set(n, element);
    if (old) old.replaceWith(element);
    else this.log.append(element);
  }

  element(item) {
    if (item.kind === "user") return this.bubble("adknb-chat-user", "you", item.text);
    if (item.kind === "agent") {
      const bubble = this.bubble("adknb-chat-agent", item.author, item.text);
      bubble.classList.toggle("adknb-chat-partial", item.is_partial);
      return bubble;
    }
    if (item.kind === "call") return callItem(item);
    if (item.kind === "transfer") {
      return html("div", "adknb-chat-line", html("b", "", item.author), " handed over to ", html("b", "", item.to));
    }
    if (item.kind === "log") return logItem(item);
    if (item.kind === "question") return this.questionItem(item.question);
    return html("div", item.kind === "error" ? "adknb-chat-line adknb-chat-error" : "adknb-chat-line", item.text);
  }

  bubble(name, who, text) {
    return html("div", `adknb-chat-bubble ${name}`, html("div", "adknb-chat-who", who), proseView(text));
  }

  questionItem(question) {
    const box = html("div", "adknb-chat-question");
    if (question.answered === null && this.port && !this.lost) {
      if (!this.forms.has(question.key)) {
        const Form = question.approval ? ApprovalForm : QuestionForm;
        this.forms.set(question.key, new Form(question, this.port, 1, 1));
      }
      box.append(this.forms.get(question.key).element);
      return box;
    }
    this.forms.delete(question.key);
    const title = question.approval ? approvalTitle(question) : question.message || "Input is needed";
    box.append(...titleView(title));
    if (question.answered === null) box.append(html("p", "adknb-run-soft", `${question.node} asks · open`));
    else box.append(answerView(question));
    return box;
  }
}

function answerView({ approval, answer }) {
  if (approval && answer !== null && typeof answer === "object" && "confirmed" in answer) {
    const name = answer.confirmed ? "adknb-run-given" : "adknb-run-given adknb-run-refused";
    return html("div", name, answer.confirmed ? "approved" : "rejected");
  }
  const isData = answer !== null && typeof answer === "object" && !Array.isArray(answer);
  return isData ? valueView(answer) : html("div", "adknb-run-given", givenWord(answer));
}

/** What nodes and tools printed in a turn, folded. */
function logItem(item) {
  const summary = html("summary", "", html("span", "adknb-chat-what", `printed ${count(item.lines, "line")}`));
  return html("details", "adknb-chat-call adknb-chat-printed", summary, html("pre", "", item.text));
}

/** A call of a tool, folded: name and arguments on one line, all of them and the result inside. */
function callItem(item) {
  const state = item.is_bad ? "failed" : item.is_done ? "done" : item.waits ? "waits for approval" : "…";
  const summary = html(
    "summary",
    "",
    html("code", "", item.name),
    html("span", "adknb-chat-what", item.what),
    html("span", `adknb-chat-state${item.is_bad ? " adknb-chat-error" : item.waits ? " adknb-chat-waits" : ""}`, state),
  );
  const box = html("details", "adknb-chat-call", summary, html("div", "adknb-chat-caller", `called by ${item.author}`));
  box.append(valueView(item.args));
  if (item.is_done) box.append(html("div", "adknb-chat-caller", "result"), valueView(item.reply));
  return box;
}
