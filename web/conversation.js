// @ts-check
/**
 * What has been said and what is going on: turns, replies, tools.
 *
 * It knows nothing about the page, sockets or sound; server-events.js keeps it up to date.
 */

/**
 * @typedef {object} ToolUse
 * @property {string} id
 * @property {string} name
 * @property {Record<string, unknown>} arguments
 * @property {string | null} result Null until the tool has answered.
 * @property {boolean} error
 * @property {number | null} durationMs
 */

/**
 * A draft of the reply, made while the user speaks.
 *
 * @typedef {object} Ghost
 * @property {number} number Of the draft within the turn.
 * @property {string} text `░` where masked.
 * @property {{name: string, arguments: Record<string, unknown>}[]} calls
 */

/**
 * @typedef {object} Reply
 * @property {string} id The response's id.
 * @property {string} itemId Empty until the reply's message begins.
 * @property {string} text The text committed so far.
 * @property {string} draft The text being denoised, `░` where masked; empty when there is none.
 * @property {number} heard Characters of `text` that have been heard.
 * @property {boolean} done
 * @property {boolean} interrupted
 * @property {string} failure Why the reply is incomplete, in words.
 * @property {ToolUse[]} tools
 */

/**
 * @typedef {object} Turn
 * @property {number} id Counts from 1 on this page.
 * @property {{itemId: string, text: string, final: boolean, typed: boolean} | null} user Null where
 *   the agent spoke first.
 * @property {Ghost | null} ghost The newest draft, until the turn's reply is done.
 * @property {Reply[]} replies
 * @property {string} [flow] The agent, the step of its flow after this turn, and what is known.
 * @property {Record<string, number>} marksMs Mark → milliseconds after the end of speech.
 * @property {number | null} voiceToVoiceMs As measured in this page.
 * @property {import("./record.js").Moment[]} moments For the replay.
 */

/** @typedef {"listening" | "hearing" | "thinking" | "speaking"} Activity */

export class Conversation {
  /** @param {{onTurn: (turn: Turn) => void, onError: (message: string) => void}} listener */
  constructor(listener) {
    this._listener = listener;
    /** @type {Turn[]} */
    this.turns = [];
    this.playing = false;
    this.hearing = false;
    this.thinking = false;
    /** @type {Reply | null} */
    this.active = null;
    /** @type {Turn | null} The turn that the last finished reply answered. */
    this.answered = null;
  }

  /** @returns {Activity} */
  get activity() {
    if (this.hearing) return "hearing";
    if (this.playing) return "speaking";
    return this.thinking || this.active ? "thinking" : "listening";
  }

  /** The connection is gone: end everything in progress, and keep what was said. */
  settle() {
    this.hearing = false;
    this.thinking = false;
    if (this.active) this.close(this.active, true);
    for (const turn of this.turns) {
      if (turn.user && !turn.user.final) {
        turn.user.final = true;
        this._listener.onTurn(turn);
      }
    }
    this.drafted(null);
  }

  /** @param {Ghost | null} ghost A draft of the newest turn's reply; null to withdraw it. */
  drafted(ghost) {
    const turn = this.turns.at(-1);
    if (!turn?.user || turn.user.typed || this.active || turn.ghost === ghost) return;
    turn.ghost = ghost;
    this._listener.onTurn(turn);
  }

  /** @param {string} place Where in the flow the newest turn has led to, in words. */
  moved(place) {
    const turn = this.turns.at(-1);
    if (!turn) return;
    turn.flow = place;
    this._listener.onTurn(turn);
  }

  /**
   * Open a turn for a typed message.
   *
   * @param {string} words
   * @param {string} itemId
   * @returns {Turn}
   */
  typed(words, itemId) {
    this.thinking = true;
    return this.open({ itemId, text: words, final: true, typed: true });
  }

  /** @param {string} itemId Of the reply that the user cut off. */
  interrupted(itemId) {
    this.withReply(
      (reply) => reply.itemId === itemId,
      (reply) => {
        reply.interrupted = true;
        reply.draft = "";
      },
    );
  }

  /** @param {string} itemId Of the reply whose audio has been played to its end. */
  finished(itemId) {
    this.withReply(
      (reply) => reply.itemId === itemId,
      (reply) => reply.interrupted || (reply.heard = reply.text.length),
    );
  }

  /** @param {Turn} turn @param {number} ms */
  measured(turn, ms) {
    turn.voiceToVoiceMs = ms;
    this._listener.onTurn(turn);
  }

  /** @param {Record<string, number>} marksMs Of the turn that was answered last. */
  timed(marksMs) {
    if (!this.answered) return;
    this.answered.marksMs = marksMs;
    this._listener.onTurn(this.answered);
  }

  /** @param {string} message What went wrong; the conversation goes on. */
  failed(message) {
    this._listener.onError(message);
  }

  /** @param {string} itemId @returns {Turn | null} The turn whose reply this is. */
  turnOf(itemId) {
    return this.turns.findLast((turn) => turn.replies.some((r) => r.itemId === itemId)) ?? null;
  }

  /** @param {Turn["user"]} user @returns {Turn} */
  open(user) {
    const turn = {
      id: this.turns.length + 1,
      user,
      ghost: null,
      replies: [],
      marksMs: {},
      voiceToVoiceMs: null,
      moments: [],
    };
    this.turns.push(turn);
    this._listener.onTurn(turn);
    return turn;
  }

  /** @param {string} itemId @param {(user: NonNullable<Turn["user"]>) => void} change */
  withUser(itemId, change) {
    const turn = this.turns.findLast((each) => each.user?.itemId === itemId);
    if (!turn?.user) return;
    change(turn.user);
    this._listener.onTurn(turn);
  }

  /** @param {(reply: Reply) => boolean} match @param {(reply: Reply) => void} change */
  withReply(match, change) {
    const turn = this.turns.findLast((each) => each.replies.some(match));
    const reply = turn?.replies.find(match);
    if (!turn || !reply) return;
    change(reply);
    this._listener.onTurn(turn);
  }

  /** @param {Reply} reply @param {boolean} cutOff @param {string} [failure] */
  close(reply, cutOff, failure = "") {
    if (this.active === reply) this.active = null;
    this.answered = this.turns.findLast((turn) => turn.replies.includes(reply)) ?? null;
    if (this.answered) this.answered.ghost = null;
    // A newer turn may be waiting for its reply.
    if (this.answered === this.turns.at(-1)) this.thinking = false;
    this.withReply(
      (each) => each === reply,
      () => {
        reply.done = true;
        // A complete reply keeps its draft: remaining denoising steps are shown while it is spoken.
        if (cutOff || failure) reply.draft = "";
        reply.interrupted ||= cutOff;
        reply.failure = failure;
      },
    );
  }

  /** @param {string} id Of a reply that begins; it belongs to the newest turn, or opens one. */
  begin(id) {
    const turn = this.turns.at(-1) ?? this.open(null);
    this.active = {
      id,
      itemId: "",
      text: "",
      draft: "",
      heard: 0,
      done: false,
      interrupted: false,
      failure: "",
      tools: [],
    };
    turn.replies.push(this.active);
    this._listener.onTurn(turn);
  }
}
