// @ts-check
/** What a screen reader says about a turn, besides the call's state. */

import { inPlainWords } from "./plain-words.js";

/** @typedef {import("./conversation.js").Turn} Turn */

/**
 * The newest complete part of a turn. A spoken reply is not read out over the agent's voice.
 *
 * @param {Turn} turn
 * @param {boolean} spoken Whether replies are heard.
 * @returns {string} Empty if there is none.
 */
export function announcement({ user, replies }, spoken) {
  const reply = replies.at(-1);
  if (reply?.failure) return reply.failure;
  if (reply?.done && reply.text && !spoken) return `Agent: ${reply.text}`;
  const tool = reply?.tools.findLast((use) => use.result !== null);
  if (tool) return `${inPlainWords(tool.name, tool.arguments)}: ${tool.result}`;
  return user?.final && user.text && !user.typed ? `You said: ${user.text}` : "";
}
