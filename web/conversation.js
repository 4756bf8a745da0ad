// @ts-check
/**
 * What has been said and what is going on: turns, replies, tools.
 *
 * It knows neither the page nor sockets nor sound; server-events.js brings it up to date.
 */

/**
 * @typedef {object} ToolUse
 * @property {string} id
 * @property {string} name
 * @property {Record<string, unknown>} arguments
 * @property {string | null} result Null until it has answered.
 * @property {boolean} error
 * @property {number | null} durationMs
 */

/**
 * The reply as it would be, drafted while the user speaks.
 *
 * @typedef {object} Ghost
 * @property {number} number Of the draft within the turn.
 * @property {string} text `░` where masked.
 * @property {{name: string, arguments: Record<string, unknown>}[]} calls
 */

/**
 * @typedef {object} Reply
 * @property {string} id The response's id.
 * @property {string} itemId Empty until its message begins.
 * @property {string} text Committed so far.
 * @property {string} draft What is being denoised, `░` where masked; empty when nothing is.
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
 * @property {Ghost | null} ghost Until its reply is done.
 * @property {Reply[]} replies
 * @property {string} [flow] The agent and the step that it has led to, and what is known there.
 * @property {Record<string, number>} marksMs Mark → milliseconds after the end of speech.
 * @property {number | null} voiceToVoiceMs As measured here.
 * @property {import("./record.js").Moment[]} moments What can be watched again.
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

  /** The connection is gone: nothing is under way any more. What was said stays. */
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

  /** @param {Ghost | null} ghost What would answer the newest turn; null if nothing would any more. */
  drafted(ghost) {
    const turn = this.turns.at(-1);
    if (!turn?.user || turn.user.typed || this.active || turn.ghost === ghost) return;
    turn.ghost = ghost;
    this._listener.onTurn(turn);
  }

  /** @param {string} place Where the newest turn has led to, in words. */
  moved(place) {
    const turn = this.turns.at(-1);
    if (!turn) return;
    turn.flow = place;
    this._listener.onTurn(turn);
  }

  /**
   * Something was typed.
   *
   * @param {string} words
   * @param {string} itemId
   * @returns {Turn}
   */
  typed(words, itemId) {
    this.thinking = true;
    return this.open({ itemId, text: words, final: true, typed: true });
  }

  /** @param {string} itemId The user cut this reply off. */
  interrupted(itemId) {
    this.withReply(
      (reply) => reply.itemId === itemId,
      (reply) => {
        reply.interrupted = true;
        reply.draft = "";
      },
    );
  }

  /** @param {string} itemId All audio of this reply that came has been played. */
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

  /** @param {string} message Something went wrong, and the conversation goes on. */
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
    // Something newer may have been asked meanwhile.
    if (this.answered === this.turns.at(-1)) this.thinking = false;
    this.withReply(
      (each) => each === reply,
      () => {
        reply.done = true;
        // What is still to be shown of a whole reply's making is shown while it is spoken.
        if (cutOff || failure) reply.draft = "";
        reply.interrupted ||= cutOff;
        reply.failure = failure;
      },
    );
  }

  /** @param {string} id A reply begins; it answers the newest turn, or none. */
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
