// @ts-check
/**
 * What each event of the server means for the conversation.
 *
 * A field that is missing or of another type is ignored; the rest of the event still counts.
 */

/** @typedef {import("./realtime.js").ServerEvent} ServerEvent */
/** @typedef {import("./conversation.js").Conversation} Conversation */
/** @typedef {import("./conversation.js").Reply} Reply */

/** @param {unknown} value @returns {string} */
const text = (value) => (typeof value === "string" ? value : "");

/** @param {unknown} value @returns {Record<string, any>} */
const object = (value) => (typeof value === "object" && value !== null ? value : {});

/** @param {unknown} value @returns {number | null} */
const number = (value) => (typeof value === "number" && Number.isFinite(value) ? value : null);

/**
 * Bring a conversation up to date. An event of an unknown type changes nothing.
 *
 * @param {Conversation} conversation
 * @param {ServerEvent} event
 */
export function apply(conversation, event) {
  EVENTS.get(event.type)?.(conversation, event);
}

/** @param {Conversation} it @param {ServerEvent} event @param {(reply: Reply) => void} change */
function byResponse(it, event, change) {
  it.withReply((reply) => reply.id === event.response_id, change);
}

/** @param {Conversation} it @param {ServerEvent} event */
function heardFinal(it, event) {
  const words = text(event.transcript ?? event.text).trim();
  // If nothing was understood, there may be no reply.
  if (words === "" && it.active === null) it.thinking = false;
  if (words === "") it.drafted(null);
  it.withUser(event.item_id, (user) => Object.assign(user, { text: words, final: true }));
}

/** @param {Conversation} it @param {ServerEvent} event */
function done(it, event) {
  const response = object(event.response);
  const reply = it.turns.flatMap((turn) => turn.replies).findLast((r) => r.id === response.id);
  if (!reply) return;
  const failed = response.status === "failed";
  const reason = text(object(object(response.status_details).error).message);
  it.close(reply, response.status === "cancelled", failed ? reason || "The reply failed." : "");
}

/** @type {Map<string, (conversation: Conversation, event: ServerEvent) => void>} */
const EVENTS = new Map(
  Object.entries({
    "input_audio_buffer.speech_started"(it, event) {
      it.hearing = true;
      it.thinking = false;
      const itemId = text(event.item_id);
      if (it.turns.some((turn) => turn.user?.itemId === itemId)) return;
      it.open({ itemId, text: "", final: false, typed: false });
    },
    "input_audio_buffer.speech_stopped"(it) {
      it.hearing = false;
      it.thinking = true;
    },
    "quicksilver.transcript"(it, event) {
      if (event.final === true) heardFinal(it, event);
      else it.withUser(event.item_id, (user) => user.final || (user.text = text(event.text)));
    },
    "conversation.item.input_audio_transcription.completed": (it, event) => heardFinal(it, event),
    "conversation.item.input_audio_transcription.failed": (it, event) => heardFinal(it, event),
    "response.created": (it, event) => it.begin(text(object(event.response).id)),
    "response.output_item.added"(it, event) {
      const item = object(event.item);
      if (item.type !== "message") return;
      byResponse(it, event, (reply) => (reply.itemId = text(item.id)));
    },
    "response.output_audio_transcript.delta": (it, event) =>
      byResponse(it, event, (reply) => (reply.text += text(event.delta))),
    "response.output_audio_transcript.done": (it, event) =>
      byResponse(it, event, (reply) => (reply.text = text(event.transcript) || reply.text)),
    "response.output_text.delta": (it, event) =>
      byResponse(it, event, (reply) => (reply.heard = (reply.text += text(event.delta)).length)),
    "quicksilver.draft"(it, event) {
      const given = Array.isArray(event.calls) ? event.calls.map(object) : [];
      const calls = given.map((call) => ({
        name: text(call.name),
        arguments: object(call.arguments),
      }));
      const draft = { number: number(event.number) ?? 0, text: text(event.text), calls };
      it.drafted(draft.text || calls.length > 0 ? draft : null);
    },
    "quicksilver.denoising": (it, event) =>
      byResponse(it, event, (reply) => reply.interrupted || (reply.draft = text(event.text))),
    "quicksilver.tool_call": (it, event) =>
      byResponse(it, event, (reply) =>
        reply.tools.push({
          id: text(event.call_id),
          name: text(event.name),
          arguments: object(event.arguments),
          result: null,
          error: false,
          durationMs: null,
        }),
      ),
    "quicksilver.tool_result": (it, event) =>
      byResponse(it, event, (reply) => {
        const use = reply.tools.find((tool) => tool.id === event.call_id);
        if (!use) return;
        use.result = text(event.content);
        use.error = event.error === true;
        use.durationMs = number(event.duration_ms);
      }),
    "quicksilver.heard": (it, event) =>
      byResponse(it, event, (reply) => {
        // The server counts characters, and strings here count an emoji as two.
        const heard = [...reply.text].slice(0, number(event.chars) ?? 0).join("");
        reply.heard = Math.max(reply.heard, heard.length);
      }),
    "quicksilver.flow"(it, event) {
      const known = Object.entries(object(event.known)).map(
        ([name, value]) => `${name.replaceAll("_", " ")}: ${text(value)}`,
      );
      const place = [text(event.agent), text(event.step)].filter(Boolean).join(" › ");
      it.moved([place, ...known].join(" · "));
    },
    "response.done": (it, event) => done(it, event),
    "quicksilver.latency"(it, event) {
      const marks = Object.entries(object(event.marks_ms)).filter(([, ms]) => number(ms) !== null);
      it.timed(Object.fromEntries(marks));
    },
    "quicksilver.state"(it, event) {
      if (event.state === "listening") it.thinking = false;
    },
    error(it, event) {
      const { code, message } = object(event.error);
      // It is not an error to stop a reply that has just ended by itself.
      if (code !== "response_cancel_not_active") it.failed(text(message));
    },
  }),
);
