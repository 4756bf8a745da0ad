// @ts-check
/** Divides a reply's text by how it is shown: heard, certain, or still being made. */

/** @typedef {import("./conversation.js").Reply} Reply */

/** @param {string} one @param {string} other @returns {number} Length of their common prefix. */
function agreement(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/**
 * @param {Pick<Reply, "text" | "heard">} reply
 * @param {string} draft A draft of the whole reply.
 * @returns {boolean} Whether more has been heard than the draft has right.
 */
export function overtaken({ text, heard }, draft) {
  return agreement(draft, text) < heard;
}

/**
 * A draft is shown in place of the certain text that it lacks, so that its making can be followed.
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
