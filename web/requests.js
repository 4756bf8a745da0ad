// @ts-check
/** Makes the events that the page sends besides audio: the session's configuration, messages. */

import { WIRE_HZ } from "./pcm.js";

/** @typedef {import("./conversation.js").Turn} Turn */
/** @typedef {{type: string, [field: string]: any}} ClientEvent */

const EXTENSIONS = [
  "transcript",
  "latency",
  "draft",
  "denoising",
  "tools",
  "heard",
  "state",
  "hold",
  "flow",
];

/** Most turns of the history to send over a new connection. */
const REMEMBERED_TURNS = 12;

/**
 * @param {boolean} speak Whether replies should be spoken, or only written.
 * @param {boolean} greet Whether the agent should say its greeting.
 * @param {string} [voice] The agent's voice; empty for the server's own.
 * @returns {ClientEvent}
 */
export function configuration(speak, greet, voice = "") {
  const format = { type: "audio/pcm", rate: WIRE_HZ };
  const output = voice ? { format, voice } : { format };
  return {
    type: "session.update",
    session: {
      type: "realtime",
      output_modalities: [speak ? "audio" : "text"],
      audio: { input: { format, transcription: { model: "local" } }, output },
      quicksilver: { events: EXTENSIONS, greet },
    },
  };
}

/**
 * @param {string} itemId
 * @param {string} words
 * @returns {ClientEvent}
 */
export function userMessage(itemId, words) {
  const content = [{ type: "input_text", text: words }];
  return {
    type: "conversation.item.create",
    item: { id: itemId, type: "message", role: "user", content },
  };
}

/**
 * The history to send over a new connection, so that the agent remembers what was said and heard.
 *
 * @param {Turn[]} turns
 * @returns {ClientEvent[]}
 */
export function history(turns) {
  /** @type {ClientEvent[]} */
  const events = [];
  for (const turn of turns.slice(-REMEMBERED_TURNS)) {
    const answered = turn.replies.some((reply) => reply.heard > 0);
    if (!answered) continue;
    if (turn.user?.text) events.push(userMessage(`${turn.user.itemId}_again`, turn.user.text));
    for (const reply of turn.replies.filter((each) => each.heard > 0)) {
      const content = [{ type: "output_text", text: reply.text.slice(0, reply.heard) }];
      events.push({
        type: "conversation.item.create",
        item: { type: "message", role: "assistant", content },
      });
    }
  }
  return events;
}
