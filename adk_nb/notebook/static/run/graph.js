/** The graph: drawn once, then only classes and second lines change. */

import { button, html, visible } from "./elements.js";
import { ago, clock } from "./words.js";

const NODE_STATES = ["retrying", "pending", "running", "waiting", "completed", "failed", "cancelled", "incomplete", "gathering", "stopped"];

/** Larger pictures are collapsed at first. */
const NODES_OPEN = 40;

/** What an agent calls to move on, which its edges show already. */
const OWN_TOOLS = /(^$|(^|\/)(transfer_to_agent|adk_\w+)$)/;

export class GraphPane {
  /**
   * @param {?SVGElement} svg @param {Object<string, string>} folded pictures by what is folded in them, a path a line
   * @param {string} outline what stands here without a picture
   */
  constructor(svg, folded, pick, point, outline) {
    this.element = html("div", "adknb-run-graph");
    this.pick = pick;
    this.point = point;
    /** Called when another picture needs another width. */
    this.resized = () => {};
    this.more = html("div", "adknb-run-strays");
    this.moreKey = "";
    this.nodes = new Map();
    this.edges = [];
    this.starts = [];
    this.isEmpty = !svg && !outline;
    /** Pixels below which the picture can't be read without scrolling. */
    this.leastWidth = 0;
    if (!svg) {
      if (outline) this.element.append(html("pre", "", outline));
      return;
    }
    this.pictures = new Map([["", svg], ...Object.entries(folded)]);
    this.inner = [...new Set(Object.keys(folded).flatMap((key) => key.split("\n")))];
    this.drawnPaths = new Set([...svg.querySelectorAll("[data-path]")].map((one) => one.dataset.path));
    this.inView = "";
    this.fold = button("", "adknb-run-quiet adknb-run-small adknb-run-unfold", () => {
      this.show(this.folded.size ? [] : this.inner);
      this.fold.focus();
    });
    this.fold.hidden = !this.inner.length;
    this.folded = new Set();
    this.use(this.inner.length && this.drawnPaths.size > NODES_OPEN ? this.nearest(this.inner) : "");
    new ResizeObserver(() => {
      this.inView = "";
      if (this.state) this.follow();
    }).observe(this.element);
  }

  /** The key of the picture in which these are folded, or of the one that is most like it. */
  nearest(paths, about = "") {
    const wanted = new Set(paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`))));
    let best = null;
    for (const key of this.pictures.keys()) {
      const held = new Set(key ? key.split("\n") : []);
      if (about && held.has(about) !== wanted.has(about)) continue;
      const distance = [...wanted].filter((one) => !held.has(one)).length + [...held].filter((one) => !wanted.has(one)).length;
      if (best === null || distance < best[0]) best = [distance, key];
    }
    return best?.[1] ?? "";
  }

  /** Fold these, and open the others. @param {string} [about] the one that must be as wanted */
  show(paths, about) {
    this.use(this.nearest([...paths], about));
    this.resized();
    if (this.state) this.draw(...this.last);
  }

  /** Fold or open what is inside one node. */
  turn(path) {
    const folded = new Set(this.folded);
    if (!folded.delete(path)) folded.add(path);
    this.show(folded, path);
    this.nodes.get(path)?.group.focus();
  }

  /** Show the picture under this key. */
  use(key) {
    if (typeof this.pictures.get(key) === "string") this.pictures.set(key, parseSvg(this.pictures.get(key)));
    const svg = this.pictures.get(key);
    this.folded = new Set(key ? key.split("\n") : []);
    this.svg = svg;
    this.leastWidth = parseFloat(svg.style.minWidth) || 0;
    this.fold.textContent = this.folded.size ? "open all" : "collapse all";
    this.element.replaceChildren(this.fold, svg, this.more);
    this.inView = "";
    this.nodes.clear();
    this.edges = [];
    for (const group of svg.querySelectorAll("[data-path]")) {
      const detail = [...group.children].find((child) => child.classList.contains("adknb-detail"));
      const box = [...group.children].find((child) => child.classList.contains("adknb-box"));
      this.nodes.set(group.dataset.path, { group, detail, box, own: detail?.textContent });
    }
    for (const group of svg.querySelectorAll("[data-source]")) {
      this.edges.push({ group, key: JSON.stringify([group.dataset.source, group.dataset.target]) });
    }
    this.starts = [...this.nodes.values()].filter(({ group }) => group.classList.contains("adknb-kind-start"));
    if (svg.adknbIsKnown) return;
    svg.adknbIsKnown = true;
    svg.addEventListener("click", (event) => {
      const place = event.target.closest("[data-path]")?.dataset.path;
      if (place !== undefined) this.pick(place);
    });
    svg.addEventListener("pointerover", (event) => this.point(event.target.closest("[data-path]")?.dataset.path ?? ""));
    svg.addEventListener("pointerleave", () => this.point(""));
    this.makeReachable(svg);
    for (const path of this.inner) this.drawFold(path);
  }

  /** A sign at the corner of a node with a graph inside: − folds it, + opens it. */
  drawFold(path) {
    const { group, box } = this.nodes.get(path) ?? {};
    if (!group) return;
    const isFolded = this.folded.has(path);
    const { width } = boxSize(box);
    const sign = group.ownerDocument.createElementNS(group.namespaceURI, "g");
    sign.setAttribute("class", "adknb-fold");
    sign.setAttribute("transform", `translate(${width - 24} 8)`);
    for (const [name, values] of [
      ["rect", { width: 16, height: 16, rx: 4 }],
      ["path", { d: isFolded ? "M4 8H12M8 4V12" : "M4 8H12" }],
    ]) {
      const part = group.ownerDocument.createElementNS(group.namespaceURI, name);
      for (const [key, value] of Object.entries(values)) part.setAttribute(key, value);
      sign.append(part);
    }
    const title = group.ownerDocument.createElementNS(group.namespaceURI, "title");
    title.textContent = isFolded ? "Open what is inside (+)" : "Fold what is inside (−)";
    sign.append(title);
    sign.addEventListener("click", (event) => {
      event.stopPropagation();
      this.turn(path);
    });
    group.append(sign);
    group.setAttribute("aria-expanded", String(!isFolded));
  }

  /** By keyboard: one stop for the picture, arrow keys from node to node, Enter chooses. */
  makeReachable(svg) {
    const groups = [...this.nodes.values()].map(({ group }) => group).filter((one) => !one.classList.contains("adknb-kind-start"));
    svg.setAttribute("role", "group");
    for (const [index, group] of groups.entries()) {
      group.setAttribute("tabindex", index ? "-1" : "0");
      group.setAttribute("role", "button");
      group.setAttribute("aria-pressed", "false");
      const name = group.querySelector(":scope > .adknb-name")?.textContent ?? group.dataset.path;
      group.setAttribute("aria-label", visible(name));
      group.addEventListener("keydown", (event) => {
        if (event.target !== group) return;
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (event.key === "Enter" || event.key === " ") this.pick(group.dataset.path);
        else if (["+", "-"].includes(event.key) && group.hasAttribute("aria-expanded")) this.turn(group.dataset.path);
        else if (step) {
          const next = groups[(index + step + groups.length) % groups.length];
          group.setAttribute("tabindex", "-1");
          next.setAttribute("tabindex", "0");
          next.focus();
        } else return;
        event.preventDefault();
        event.stopPropagation();
      });
    }
  }

  /** What runs started that isn't in the picture, under the node that started it. */
  drawStrays(state) {
    const groups = new Map();
    for (const [path, node] of state.nodes) {
      if (this.drawnPaths?.has(path) || OWN_TOOLS.test(path)) continue;
      const above = path.split("/").slice(0, -1).join("/");
      groups.set(above, [...(groups.get(above) ?? []), [path, node]]);
    }
    const key = JSON.stringify([...groups].map(([above, list]) => [above, list.map(([path, node]) => [path, node.status, node.detail])]));
    if (key === this.moreKey) return;
    this.moreKey = key;
    const lines = [...groups].map(([above, list]) => {
      const chips = list.slice(0, 60).map(([path, node]) => {
        const chip = button("", "adknb-run-stray", () => this.pick(path));
        chip.append(html("b", "", path.split("/").pop()), html("span", "", ` ${node.detail}`));
        chip.dataset.status = node.status;
        return chip;
      });
      if (list.length > 60) chips.push(html("span", "adknb-run-soft", `and ${list.length - 60} more`));
      return html("div", "adknb-run-strayline", html("span", "adknb-run-soft", above ? `${above} started` : "also ran"), ...chips);
    });
    this.more.replaceChildren(...lines);
    this.more.hidden = !lines.length;
  }

  /** @param {Map} [known] nodes that ran at any time: before they do, they have nothing to say */
  draw(state, now, known = state.nodes) {
    this.last = [state, now, known];
    this.drawStrays(state);
    for (const [path, { group, detail, own, box }] of this.nodes) {
      const node = state.nodes.get(path);
      if (!group.classList.contains("adknb-kind-start")) setState(group, node?.status ?? "pending");
      const isKept = Boolean(node) && isFromBefore(node, state.header);
      group.classList.toggle("adknb-kept", isKept);
      const text = (node && nodeDetail(node, now)) || (known.has(path) ? "" : own) || "";
      if (detail) fitText(detail, isKept ? `kept · ${text}` : text, box);
      if (group.hasAttribute("aria-pressed")) speak(group, node, isKept, text);
    }
    for (const { group, key } of this.edges) group.classList.toggle("adknb-taken", state.edges.has(key));
    for (const { group } of this.starts ?? []) {
      const isLeft = this.edges.some(
        (edge) => edge.group.dataset.source === group.dataset.path && state.edges.has(edge.key),
      );
      setState(group, isLeft ? "completed" : "pending");
    }
    this.state = state;
    this.follow();
  }

  /** Bring the node that asks or works into view, inside this box only, once each time that it is another one. */
  follow() {
    const { state } = this;
    const inner = (status) => {
      const found = [...this.nodes.keys()].filter((path) => state.nodes.get(path)?.status === status);
      return found.sort((a, b) => b.split("/").length - a.split("/").length)[0];
    };
    const path = inner("waiting") ?? inner("running") ?? inner("failed") ?? "";
    if (!path || path === this.inView || !this.element.clientWidth) return;
    this.inView = path;
    const frame = this.element.getBoundingClientRect();
    const node = this.nodes.get(path).group.getBoundingClientRect();
    for (const [axis, start, end] of [["scrollLeft", "left", "right"], ["scrollTop", "top", "bottom"]]) {
      if (node[start] >= frame[start] && node[end] <= frame[end]) continue;
      this.element[axis] += (node[start] + node[end] - frame[start] - frame[end]) / 2;
    }
  }

  /** Only what time changes. */
  tick(state, now) {
    for (const [path, node] of state.nodes) {
      const drawn = this.nodes.get(path);
      if (drawn?.detail && node.since !== null) fitText(drawn.detail, nodeDetail(node, now), drawn.box);
    }
  }

  select(path) {
    for (const [own, { group }] of this.nodes) {
      group.classList.toggle("adknb-run-chosen", own === path);
      if (group.hasAttribute("aria-pressed")) group.setAttribute("aria-pressed", String(own === path));
    }
  }

  pointAt(path) {
    for (const [own, { group }] of this.nodes) group.classList.toggle("adknb-run-pointed", path !== "" && own === path);
  }
}

/** Whether a node's result was there when the run was opened again, and was not worked out anew. */
function isFromBefore({ status, ended }, header) {
  return Boolean(header?.taken_up) && status === "completed" && ended !== null && ended <= header.taken_up;
}

/** Say where a node stands with its name. */
function speak(group, node, isKept, text) {
  group.adknbName ??= group.getAttribute("aria-label");
  const status = isKept ? "kept from before" : (node?.status ?? "not reached");
  const words = [group.adknbName, status, node && !text.startsWith(status) ? text : ""].filter(Boolean).join(", ");
  if (group.getAttribute("aria-label") !== words) group.setAttribute("aria-label", visible(words));
}

const boxSize = (box) => ({ width: parseFloat(box?.getAttribute("width")) || box?.getBBox?.().width || 0 });

function setState(group, state) {
  for (const one of NODE_STATES) group.classList.toggle(`adknb-${one}`, one === state);
}

function nodeDetail(node, now) {
  if (node.status === "waiting" && node.since !== null) {
    return now === null ? `asked at ${clock(node.since)}` : `asked ${ago(now - node.since)} ago`;
  }
  if (node.status === "retrying" && now !== null && node.since !== null) {
    return node.detail.replace("tries again", node.since > now ? `again in ${ago(node.since - now)}` : "tries again");
  }
  if (node.status === "running" && now !== null && node.since !== null && now - node.since >= 1) {
    return node.detail.replace("running", `running ${ago(now - node.since)}`);
  }
  return node.detail;
}

/** Set a node's second line, shortened to its box. */
function fitText(element, text, box) {
  if (element.dataset.full === text) return;
  element.dataset.full = text;
  text = visible(text);
  element.textContent = text;
  const room = (box?.getBBox?.().width ?? 0) - 50;
  if (room <= 0) return;
  // A part between dots goes as a whole, because a cut number is a wrong one.
  for (let end = text.length; end > 1 && element.getComputedTextLength() > room; ) {
    const dot = text.lastIndexOf(" · ", end - 1);
    end = dot > 0 ? dot : end - 1;
    element.textContent = dot > 0 ? text.slice(0, end) : `${text.slice(0, end).trimEnd()}…`;
  }
}

/** A picture as elements, without anything that could run: it comes from our own drawing, and is cleaned all the same. */
export function parseSvg(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") return null;
  for (const element of [root, ...root.querySelectorAll("*")]) {
    if (["script", "foreignObject", "a", "use", "image"].includes(element.localName)) element.remove();
    for (const { name } of [...element.attributes]) {
      if (/^on|href$/i.test(name)) element.removeAttribute(name);
    }
  }
  return document.importNode(root, true);
}
