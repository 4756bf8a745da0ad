// @ts-check
/**
 * The drafted reply, shown under the user's words where the reply will be. It is styled quietly,
 * and screen readers do not read it out.
 */

import { element } from "./element.js";
import { inPlainWords } from "./plain-words.js";

/** @typedef {import("./conversation.js").Ghost} Ghost */

const MASKS = /^░+$/;

/** @typedef {{kind: string, words: string}} Piece */

/** @param {Ghost} ghost @returns {Piece[]} Its calls in plain words. */
function callsOf({ calls }) {
  return calls.map((call) => ({ kind: "call", words: inPlainWords(call.name, call.arguments) }));
}

/** @param {Ghost} ghost @returns {Piece[]} Each word of its text. */
function wordsOf({ text }) {
  const words = text.split(/\s+/).filter(Boolean);
  return words.map((word) => ({ kind: MASKS.test(word) ? "masked" : "word", words: `${word} ` }));
}

/**
 * Replace the pieces that have changed, which then fade in, and leave the others alone.
 *
 * @param {HTMLElement} place
 * @param {Piece[]} pieces
 */
function revise(place, pieces) {
  pieces.forEach(({ kind, words }, index) => {
    const shown = place.children[index];
    if (shown?.textContent === words) return;
    const fresh = element("span", kind, words);
    if (shown) shown.replaceWith(fresh);
    else place.append(fresh);
  });
  while (place.children.length > pieces.length) place.lastElementChild?.remove();
}

export class GhostLine {
  constructor() {
    this._calls = element("div", "tool");
    this._words = element("div", "words");
    this._line = element("div", "line reply", [element("div", "who", "Draft"), this._words]);
    this.node = element("div", "lines ghost", [this._calls, this._line]);
    this.node.setAttribute("aria-hidden", "true");
    this.node.hidden = true;
  }

  /**
   * @param {Ghost | null} ghost Null if there is none any more.
   * @param {boolean} replaced Whether something else is shown in its place.
   */
  show(ghost, replaced) {
    if (!ghost) {
      this.node.classList.add("gone");
      if (replaced) this.node.hidden = true;
      return;
    }
    this.node.hidden = false;
    this.node.classList.remove("gone");
    revise(this._calls, callsOf(ghost));
    revise(this._words, wordsOf(ghost));
    this._calls.hidden = ghost.calls.length === 0;
    this._line.hidden = ghost.text === "";
  }
}
