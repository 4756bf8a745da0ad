// @ts-check
/** The line under the user's words that shows the reply as it is drafted: quiet, and not read out. */

import { element } from "./element.js";
import { inPlainWords } from "./plain-words.js";

/** @typedef {import("./conversation.js").Ghost} Ghost */

const MASKS = /^░+$/;

/**
 * A draft in pieces: its calls as people would tell them, then each word of its text.
 *
 * @param {Ghost} ghost
 * @returns {{kind: string, words: string}[]}
 */
function piecesOf({ text, calls }) {
  const words = text.split(/\s+/).filter(Boolean);
  return [
    ...calls.map((call) => ({ kind: "call", words: inPlainWords(call.name, call.arguments) })),
    ...words.map((word) => ({ kind: MASKS.test(word) ? "masked" : "word", words: `${word} ` })),
  ];
}

export class GhostLine {
  constructor() {
    this._words = element("div", "words");
    this.node = element("div", "line ghost", [element("div", "who", "Draft"), this._words]);
    this.node.setAttribute("aria-hidden", "true");
    this.node.hidden = true;
  }

  /**
   * @param {Ghost | null} ghost Null: there is none any more.
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
    const pieces = piecesOf(ghost);
    // A word that stays is left alone; one that is revised is made anew, and so fades in.
    pieces.forEach(({ kind, words }, index) => {
      const shown = this._words.children[index];
      if (shown?.textContent === words) return;
      const fresh = element("span", kind, words);
      if (shown) shown.replaceWith(fresh);
      else this._words.append(fresh);
    });
    while (this._words.children.length > pieces.length) this._words.lastElementChild?.remove();
  }
}
