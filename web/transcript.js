// @ts-check
/** Shows the conversation: one list entry per turn, updated as the turn goes on. */

import { element } from "./element.js";
import { GhostLine } from "./ghost.js";
import { inPlainWords } from "./plain-words.js";
import { portions } from "./portions.js";
import { Thinking } from "./thinking.js";

/** @typedef {import("./conversation.js").Turn} Turn */
/** @typedef {import("./conversation.js").Reply} Reply */
/** @typedef {import("./conversation.js").ToolUse} ToolUse */

/** How close to the end still counts as following the conversation, in CSS pixels. */
const NEAR_END_PX = 80;

/** Duration of the animation in conversation.css. */
const SHIMMER_MS = 1600;

/** @param {ToolUse} use @returns {HTMLElement} A line in plain words, with the call folded away. */
function toolCard(use) {
  const given = Object.entries(use.arguments).map(([name, value]) => {
    const said = typeof value === "string" ? value : JSON.stringify(value);
    return element("span", "argument", [" ", element("span", "argument-name", `${name}: `), said]);
  });
  const state = use.result === null ? "running" : use.error ? "failed" : "answered";
  const took = use.durationMs === null ? "" : `${Math.round(use.durationMs)} ms`;
  return element("details", `tool ${state}`, [
    element("summary", "", [
      element("span", "tool-said", inPlainWords(use.name, use.arguments)),
      // An answer is left out of the summary, since the agent says it.
      ...(state === "answered" ? [] : [" ", element("span", "tool-result", use.result ?? "Running…")]),
    ]),
    element("div", "tool-call", [
      element("span", "tool-name", use.name),
      ...given,
      element("span", "tool-time", took),
      ...(state === "answered" ? [element("div", "tool-result", use.result ?? "")] : []),
    ]),
  ]);
}

/** @param {string} kind @param {string} who @param {(Node | string)[]} words @returns {HTMLElement} */
function line(kind, who, words) {
  return element("div", `line ${kind}`, [
    element("div", "who", who),
    element("div", "words", words),
  ]);
}

/** @param {Reply} reply @returns {HTMLElement | null} */
function replyLine(reply) {
  const { heard, unheard, draft } = portions(reply);
  /** @type {(Node | string)[]} */
  const words = [];
  if (heard) words.push(element("span", "heard", heard));
  if (unheard) words.push(element("span", "unheard", draft ? unheard : unheard.trimEnd()));
  if (draft) {
    const shimmering = element("span", "draft", draft);
    shimmering.setAttribute("aria-hidden", "true");
    // Each step makes a new element; the delay lets the shimmer go on where it was.
    shimmering.style.animationDelay = `${-Math.round(performance.now() % SHIMMER_MS)}ms`;
    words.push(shimmering);
  }
  if (reply.interrupted && unheard) words.push(element("span", "remark", "Interrupted"));
  if (reply.failure) words.push(element("span", "remark", reply.failure));
  if (words.length === 0) return null;
  return line(reply.interrupted ? "reply interrupted" : "reply", "Agent", words);
}

/** @param {Turn} turn @returns {boolean} Whether there is anything of this turn to show. */
function worthShowing({ user, replies }) {
  return replies.length > 0 || (user !== null && (user.text !== "" || !user.final));
}

/** @param {Turn} turn @returns {(HTMLElement | null)[]} */
function linesOf({ user, replies, flow }) {
  /** @type {(HTMLElement | null)[]} */
  const lines = [];
  if (user && (user.text || !user.final)) {
    lines.push(line(user.final ? "user" : "user interim", "You", [user.text]));
  } else if (user) {
    lines.push(line("user unclear", "You", ["Not understood"]));
  }
  for (const reply of replies) lines.push(...reply.tools.map(toolCard), replyLine(reply));
  if (flow) lines.push(element("p", "flow", flow));
  return lines;
}

/** A turn's place in the list. */
class Entry {
  constructor() {
    this._lines = element("div", "lines");
    this._ghost = new GhostLine();
    this._thinking = new Thinking();
    this.node = element("li", "turn", [this._lines, this._ghost.node, this._thinking.node]);
  }

  /** @param {Turn} turn */
  show(turn) {
    this.node.hidden = !worthShowing(turn);
    update(this._lines, linesOf(turn));
    // A draft stays until its reply has something to show.
    const begun = turn.replies.some((reply) => reply.tools.length > 0 || replyLine(reply));
    this._ghost.show(begun ? null : turn.ghost, begun);
    this._thinking.show(turn);
  }
}

export class Transcript {
  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} scroller
   * @param {HTMLElement} latest Shown while the newest turn is out of sight.
   */
  constructor(list, scroller, latest) {
    this._list = list;
    this._scroller = scroller;
    this._latest = latest;
    /** @type {Map<number, Entry>} */
    this._entries = new Map();
    this._following = true;
    scroller.addEventListener("scroll", () => this._look(), { passive: true });
    latest.addEventListener("click", () => {
      // Before the button that has the focus is hidden.
      scroller.focus();
      this._follow();
    });
    new ResizeObserver(() => this._following && this._follow()).observe(scroller);
  }

  clear() {
    this._list.replaceChildren();
    this._entries.clear();
    this._follow();
  }

  /** @param {Turn} turn */
  show(turn) {
    let entry = this._entries.get(turn.id);
    if (!entry) {
      entry = new Entry();
      this._entries.set(turn.id, entry);
      this._list.append(entry.node);
    }
    entry.show(turn);
    if (this._following) this._follow();
    else this._look();
  }

  _follow() {
    this._following = true;
    this._scroller.scrollTop = this._scroller.scrollHeight;
    this._latest.hidden = true;
  }

  _look() {
    const { scrollHeight, scrollTop, clientHeight } = this._scroller;
    this._following = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    this._latest.hidden = this._following;
  }
}

/**
 * Replace only the parts that have changed, so that focus, selection and animations survive.
 *
 * @param {HTMLElement} entry
 * @param {(HTMLElement | null)[]} given
 */
function update(entry, given) {
  const parts = given.filter((part) => part !== null);
  parts.forEach((part, index) => {
    const shown = entry.children[index];
    if (shown?.matches("details[open]")) part.toggleAttribute("open", part.matches("details"));
    if (!shown) entry.append(part);
    else if (!shown.isEqualNode(part)) shown.replaceWith(part);
  });
  while (entry.children.length > parts.length) entry.lastElementChild?.remove();
}
