/**
 * Text as models write it: headings, lists, emphasis and code are shown as such, made of elements that hold text. There
 * are no links, no pictures and no markup in it; what isn't understood stays as it was written.
 */

import { html } from "./elements.js";

const FENCE = /^\s*```/;
const HEADING = /^#{1,4} +(.+)$/;
const ITEM = /^(\s*)(?:[-*•]|\d{1,3}[.)]) +(.*)$/;
const MARKS = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;
/** A text without any of these is a plain one. */
const MARKED = /^(?:[ \t]*```|#{1,4} |[ \t]*(?:[-*•]|\d{1,3}[.)]) )|`[^`\n]+`|\*\*[^*\n]+\*\*/m;

export function proseView(text) {
  if (!MARKED.test(text)) return html("div", "adknb-run-text", text);
  return html("div", "adknb-run-text adknb-run-prose", ...blocks(text.split("\n")));
}

/** What is asked: its first line as a heading, the others below it. */
export function titleView(text) {
  const [first, ...rest] = text.trim().split("\n");
  const heading = html("h4", "", ...marked(first));
  const below = rest.join("\n").trim();
  return below ? [heading, proseView(below)] : [heading];
}

function blocks(lines) {
  const made = [];
  let plain = [];
  const endPlain = () => {
    while (plain.length && !plain[0].trim()) plain.shift();
    while (plain.length && !plain.at(-1).trim()) plain.pop();
    if (plain.length) made.push(html("p", "", ...marked(plain.join("\n"))));
    plain = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (FENCE.test(line)) {
      const end = lines.findIndex((other, index) => index > at && FENCE.test(other));
      if (end < 0) {
        plain.push(line);
        continue;
      }
      endPlain();
      made.push(html("pre", "", lines.slice(at + 1, end).join("\n")));
      at = end;
    } else if (heading) {
      endPlain();
      made.push(html("p", "adknb-run-heading", ...marked(heading[1])));
    } else if (ITEM.test(line)) {
      endPlain();
      made.push(item(line));
    } else {
      plain.push(line);
    }
  }
  endPlain();
  return made;
}

/** An item keeps its own number or sign, so that nothing is counted anew. */
function item(line) {
  const [, indent, words] = ITEM.exec(line);
  const sign = line.slice(indent.length, line.length - words.length).trim();
  const shown = /\d/.test(sign) ? sign : "•";
  const made = html("div", "adknb-run-item", html("span", "adknb-run-soft", shown), html("span", "", ...marked(words)));
  made.style.paddingInlineStart = `${Math.min(6, Math.floor(indent.length / 2)) * 14}px`;
  return made;
}

function marked(text) {
  return text.split(MARKS).map((piece, index) => {
    if (index % 2 === 0) return piece;
    return piece[0] === "`" ? html("code", "", piece.slice(1, -1)) : html("b", "", piece.slice(2, -2));
  });
}
