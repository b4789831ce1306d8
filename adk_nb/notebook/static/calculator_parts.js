/** The pieces that the calculator is put together from, and the keys that they keep. */

/** @typedef {import("./calculator_words.js").Phrase} Phrase */

export function html(tag, className, ...children) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  node.append(...children);
  return node;
}

/** @param {Phrase[]} phrases */
export function spoken(phrases) {
  return phrases.map(([text, isStrong]) => (isStrong ? html("strong", "", text) : text));
}

export function table(head, rows, className) {
  const cells = (tag, row) => row.map((text, i) => html(i ? tag : "th", "", text));
  return html(
    "table",
    className,
    html("thead", "", html("tr", "", ...cells("th", head))),
    html("tbody", "", ...rows.map((row) => html("tr", "", ...cells("td", row)))),
  );
}

export const title = (text) => html("p", "adknb-calc-title", text);
export const formula = (text) => html("span", "adknb-calc-formula", text);
export const freshId = () => `adknb-calc-${Math.random().toString(36).slice(2)}`;

export function folded(name, lines) {
  const items = lines.map(([head, text]) => html("li", "", html("strong", "", head), text));
  const summary = html("summary", "", name);
  keepKeys(summary, /^( |Enter)$/);
  return html("details", "", summary, html("ul", "", ...items));
}

export function labelled(name, input, unit = "") {
  return html("label", "adknb-calc-field", html("span", "", name), input, html("span", "adknb-calc-unit", unit));
}

/** Offer these options, and say so when none of them is what is set. */
export function fillMenu(select, options, chosen) {
  const own = chosen === undefined ? [["\u0000", "own values"]] : [];
  const wanted = [...own, ...options];
  if (select.options.length !== wanted.length) {
    select.replaceChildren(
      ...wanted.map(([value, text]) => {
        const option = html("option", "", text);
        option.value = value;
        option.disabled = value === "\u0000";
        return option;
      }),
    );
  }
  select.value = chosen ?? "\u0000";
}

export function bar(name, kind = "loop", thin = false) {
  const length = html("i");
  const value = html("span");
  const row = html(
    "div",
    `adknb-calc-bar adknb-calc-${kind}${thin ? " adknb-calc-thin" : ""}`,
    html("span", "", name),
    length,
    value,
  );
  length.setAttribute("aria-hidden", "true");
  return {
    row,
    set(share, text, label = name) {
      row.firstChild.textContent = label;
      length.style.setProperty("--adknb-fill", share > 0 ? `max(2px, ${share * 100}%)` : "0");
      value.textContent = text;
    },
  };
}

export const MOVING = /^(Arrow|Page)|^(Home|End)$/;

/**
 * Keep the keys that an element needs from JupyterLab, which would move the cell cursor with them, and leave it all
 * others (Ctrl+S still saves). Lab listens on the document in the capture phase and passes over elements with this
 * attribute; the window's capture phase comes just before that.
 */
export function keepKeys(element, own) {
  const mark = (event) =>
    element.toggleAttribute("data-lm-suppress-shortcuts", own.test(event.key) && !event.ctrlKey && !event.metaKey);
  element.addEventListener("focus", () => window.addEventListener("keydown", mark, true));
  element.addEventListener("blur", () => window.removeEventListener("keydown", mark, true));
}
