// @ts-check
/** A reply's text by how it is shown: what was heard, what is certain, what is still being made. */

/** @typedef {import("./conversation.js").Reply} Reply */

/** @param {string} one @param {string} other @returns {number} How many characters begin both. */
function agreement(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/**
 * @param {Pick<Reply, "text" | "heard">} reply
 * @param {string} draft Of the whole reply.
 * @returns {boolean} Whether more was heard by now than the draft knew.
 */
export function overtaken({ text, heard }, draft) {
  return agreement(draft, text) < heard;
}

/**
 * A draft is shown in the place of what is certain by now, so that the eye can follow how it was made.
 *
 * @param {Pick<Reply, "text" | "heard" | "draft">} reply
 * @returns {{heard: string, unheard: string, draft: string}}
 */
export function portions({ text, heard, draft }) {
  const certain = agreement(draft, text);
  const old = certain < heard || certain === draft.length;
  if (!draft || old) return { heard: text.slice(0, heard), unheard: text.slice(heard), draft: "" };
  return {
    heard: text.slice(0, heard),
    unheard: text.slice(heard, certain),
    draft: draft.slice(certain),
  };
}
