// @ts-check
/** Records what happened in each turn, moment by moment, for the replay; bounded. */

/** @typedef {import("./conversation.js").Turn} Turn */
/** @typedef {import("./conversation.js").Reply} Reply */
/** @typedef {import("./realtime.js").ServerEvent} ServerEvent */
/** @typedef {{name: string, arguments: Record<string, unknown>}} Call */

/**
 * @typedef {"words" | "stopped" | "draft" | "reply" | "step" | "certain" | "call" | "result" | "sound" | "silence"} Kind
 *
 * @typedef {object} Moment
 * @property {number} atMs Time after the beginning of speech.
 * @property {Kind} kind
 * @property {string} text
 * @property {number} [number] Of a draft.
 * @property {Call[]} [calls] A draft's calls, or the one call that was made.
 * @property {number} [confidence] The model's confidence in a draft's calls, in [0, 1].
 */

/**
 * The state of a turn at some moment.
 *
 * @typedef {object} Scene
 * @property {string} words The user's.
 * @property {Moment | null} draft The newest draft, until the reply begins.
 * @property {string} certain The reply's final text.
 * @property {string} step The reply as it is being denoised; empty when nothing is.
 * @property {{call: Call, result: string | null}[]} tools
 * @property {string} phase What goes on, in words.
 */

const MOST = 300;
const LONGEST = 500;
/** Over all turns; the oldest turns are forgotten first. */
const MOST_IN_ALL = 15000;
const APART_MS = 0.01;

/** @param {unknown} value @returns {string} */
const text = (value) => (typeof value === "string" ? value.slice(0, LONGEST) : "");

/**
 * The moment that a server event makes in a turn. The conversation must know of the event already.
 *
 * @param {ServerEvent} event
 * @param {Reply | undefined} reply The reply that the event is about.
 * @returns {Omit<Moment, "atMs"> | null} Null if there is nothing to watch.
 */
export function momentOf(event, reply) {
  switch (event.type) {
    case "quicksilver.transcript":
      return { kind: "words", text: text(event.text) };
    case "conversation.item.input_audio_transcription.completed":
      return { kind: "words", text: text(event.transcript) };
    case "input_audio_buffer.speech_stopped":
      return { kind: "stopped", text: "" };
    case "quicksilver.draft":
      return {
        kind: "draft",
        text: text(event.text),
        number: Number(event.number) || 0,
        calls: Array.isArray(event.calls) ? event.calls : [],
        ...(typeof event.confidence === "number" ? { confidence: event.confidence } : {}),
      };
    case "response.created":
      return { kind: "reply", text: "" };
    case "quicksilver.denoising":
      // While a call is made, the text is empty: calls are shown only when complete.
      return event.text ? { kind: "step", text: text(event.text) } : null;
    case "response.output_audio_transcript.delta":
    case "response.output_text.delta":
      return { kind: "certain", text: text(reply?.text) };
    case "quicksilver.tool_call": {
      const call = { name: text(event.name), arguments: event.arguments ?? {} };
      return { kind: "call", text: text(event.call_id), calls: [call] };
    }
    case "quicksilver.tool_result":
      return { kind: "result", text: text(event.content) };
    default:
      return null;
  }
}

export class Recorder {
  constructor() {
    /** @type {Map<Turn, number>} The newest turns → when they began, on the page's clock. */
    this._beganMs = new Map();
    this._noted = 0;
  }

  /** @param {Turn} turn @param {number} nowMs @param {number} agoMs How long ago its speech began. */
  begin(turn, nowMs, agoMs) {
    if (!this._beganMs.has(turn)) this._beganMs.set(turn, nowMs - agoMs);
  }

  /** @param {Turn} turn @param {number} nowMs @param {Omit<Moment, "atMs">} moment */
  note(turn, nowMs, moment) {
    if (turn.moments.length >= MOST) return;
    this.begin(turn, nowMs, 0);
    const beganMs = this._beganMs.get(turn) ?? nowMs;
    // No two moments have the same time, so that each can be stepped to.
    const earliestMs = (turn.moments.at(-1)?.atMs ?? -APART_MS) + APART_MS;
    turn.moments.push({ ...moment, atMs: Math.max(earliestMs, nowMs - beganMs) });
    this._noted += 1;
    while (this._noted > MOST_IN_ALL) {
      const [oldest] = this._beganMs.keys();
      this._noted -= oldest.moments.length;
      oldest.moments = [];
      this._beganMs.delete(oldest);
    }
  }
}

/** @type {Record<Kind, string>} */
const PHASES = {
  words: "Listening",
  stopped: "The turn is over",
  draft: "Drafting ahead",
  reply: "The reply begins",
  step: "Denoising",
  certain: "Verified",
  call: "Using a tool",
  result: "The tool has answered",
  sound: "Speaking",
  silence: "All said",
};

/**
 * @param {Moment[]} moments In their order.
 * @param {number} atMs
 * @returns {Scene}
 */
export function sceneAt(moments, atMs) {
  /** @type {Scene} */
  const scene = { words: "", draft: null, certain: "", step: "", tools: [], phase: "" };
  for (const moment of moments) {
    if (moment.atMs > atMs) break;
    const { kind } = moment;
    scene.phase = kind === "draft" ? `Draft ${moment.number}` : PHASES[kind];
    if (kind === "words") scene.words = moment.text;
    if (kind === "draft") scene.draft = moment.text || moment.calls?.length ? moment : null;
    if (kind === "reply") Object.assign(scene, { draft: null, certain: "", step: "" });
    if (kind === "step") scene.step = moment.text;
    if (kind === "certain") {
      scene.certain = moment.text;
      if (!scene.step.startsWith(moment.text)) scene.step = "";
    }
    if (kind === "call" && moment.calls) scene.tools.push({ call: moment.calls[0], result: null });
    if (kind === "result") {
      const waiting = scene.tools.find(({ result }) => result === null);
      if (waiting) waiting.result = moment.text;
    }
  }
  return scene;
}
