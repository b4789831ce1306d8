/** Tabs: one panel at a time, by mouse and by keyboard; a panel that isn't shown isn't drawn. */

import { html } from "./elements.js";

let tabNumber = 0;
const TAB_IDS = `adknb-tab-${Math.random().toString(36).slice(2, 10)}`;

export class Tabs {
  /** @param {{name: string, element: HTMLElement, tools: HTMLElement[]}[]} panels @param {() => void} changed */
  constructor(panels, changed) {
    this.panels = panels;
    this.changed = changed;
    this.list = html("div", "adknb-run-tablist");
    this.list.setAttribute("role", "tablist");
    this.list.setAttribute("aria-label", "What happened");
    this.tools = html("div", "adknb-run-tools");
    this.buttons = panels.map((panel, index) => this.tab(panel, index));
    this.bar = html("div", "adknb-run-tabs", this.list, this.tools);
    this.body = html("div", "", ...panels.map((panel) => panel.element));
    this.choose(0, false);
  }

  tab(panel, index) {
    const made = html("button", "adknb-run-tab", panel.name);
    made.type = "button";
    made.id = `${TAB_IDS}-${++tabNumber}`;
    panel.element.id = `${made.id}-panel`;
    made.setAttribute("role", "tab");
    made.setAttribute("aria-controls", panel.element.id);
    panel.element.setAttribute("role", "tabpanel");
    panel.element.setAttribute("aria-labelledby", made.id);
    made.addEventListener("click", () => this.choose(index));
    made.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const wanted = step ? index + step : { Home: 0, End: this.panels.length - 1 }[event.key];
      if (wanted === undefined) return;
      event.preventDefault();
      const count = this.panels.length;
      let next = (wanted + count) % count;
      // A tab without anything to show is hidden: the next one that isn't is meant.
      while (this.buttons[next].hidden) next = (next + (step ?? -1) + count) % count;
      this.choose(next);
      this.buttons[next].focus();
    });
    this.list.append(made);
    return made;
  }

  /** @param {boolean} [isTold] whether the view is to draw */
  choose(index, isTold = true) {
    this.chosen = index;
    this.buttons.forEach((one, number) => {
      one.setAttribute("aria-selected", String(number === index));
      one.tabIndex = number === index ? 0 : -1;
      this.panels[number].element.hidden = number !== index;
    });
    this.tools.replaceChildren(...this.panels[index].tools);
    if (isTold) this.changed();
  }

  get panel() {
    return this.panels[this.chosen];
  }

  /** @param {string[]} names what the tabs are called now */
  call(names) {
    names.forEach((name, index) => {
      if (this.buttons[index].textContent !== name) this.buttons[index].textContent = name;
    });
  }
}
