// @ts-check
/**
 * One conversation: the connection, the microphone, the loudspeaker and what has been said.
 *
 * It knows nothing about the page's elements; it notifies a listener of changes.
 */

import { Conversation } from "./conversation.js";
import { apply } from "./server-events.js";
import { RealtimeClient } from "./realtime.js";
import { RtcSocket, transport } from "./rtc-socket.js";
import { Pace } from "./pace.js";
import { momentOf, Recorder } from "./record.js";
import { Sound } from "./sound.js";
import { Timeline } from "./timeline.js";
import { configuration, history, userMessage } from "./requests.js";
import { decode, encode } from "./pcm.js";
import { overtaken } from "./portions.js";

/** @typedef {import("./conversation.js").Turn} Turn */
/** @typedef {import("./realtime.js").Link} Link */
/** @typedef {import("./realtime.js").ServerEvent} ServerEvent */

/**
 * @typedef {object} CallListener
 * @property {(turn: Turn) => void} onTurn
 * @property {() => void} onChange The link, the activity or the microphone changed.
 * @property {(message: string) => void} onNotice Something the user should know, in words.
 * @property {(block: Float32Array, frame: number) => void} [onTap] Each block played, if wanted.
 */

/** @typedef {{microphone: string, speaker: string, voice: string, agent: string, key: string}} Settings */

/** @typedef {{itemId: string, words: string}} Typed */

const PACED = new Set(["quicksilver.draft", "quicksilver.denoising"]);

const LOST =
  "The microphone was unplugged. Choose another in the settings, press Talk for the same one, or type below.";

export class Call {
  /**
   * @param {string} url
   * @param {CallListener} listener
   */
  constructor(url, listener) {
    this._listener = listener;
    this._transport = transport(location);
    /** Whether this connection is WebRTC: sound is on tracks, and the server controls playback. */
    this._rtc = false;
    const platform = { WebSocket: this._sockets() };
    this._client = new RealtimeClient(
      url,
      {
        onEvent: (event) => this._receive(event),
        onLink: (link) => this._linked(link),
        onProblem: (problem) => listener.onNotice(problem),
      },
      platform,
    );
    this.conversation = new Conversation({
      onTurn: listener.onTurn,
      onError: (message) => listener.onNotice(message || "The server reported an error."),
    });
    this.sound = new Sound({
      onPacket: (packet) => this._send(packet),
      onLost: () => {
        listener.onNotice(LOST);
        listener.onChange();
      },
      onReport: (report) => this._played(report),
      onTap: listener.onTap,
    });
    /** @type {Link} */
    this.link = { state: "closed" };
    /** Whether there has ever been a connection. */
    this.ready = false;
    this._timeline = new Timeline(this.sound.rateHz);
    /** @type {Pace<ServerEvent>} Shows the steps in which drafts and replies are made. */
    this._making = new Pace((event) => this._show(event));
    this._recorder = new Recorder();
    /** @type {Set<string>} Texts of drafts shown in this turn, which its reply does not repeat. */
    this._seen = new Set();
    /** @type {Set<string>} Ids of interrupted responses: audio that still arrives is dropped. */
    this._stale = new Set();
    /** @type {{turn: Turn, frame: number} | null} When the message that is being answered ended. */
    this._asked = null;
    /** @type {Set<string>} Items of replies whose sound came over this connection. */
    this._items = new Set();
    /** @type {Typed[]} Typed messages that wait until no reply is in progress. */
    this._typed = [];
    /** @type {Typed[]} Sent messages whose reply has not begun; sent again if the link breaks. */
    this._asking = [];
    /** The id of a request whose reply has not begun yet; empty for none. */
    this._request = "";
    this._voice = "";
  }

  /** @returns {boolean} Whether the call is on, even if only reconnecting or still playing. */
  get on() {
    return this.link.state !== "closed" || this.sound.busy;
  }

  /**
   * Begin, with or without a microphone. Call this from a click or a key press: browsers start
   * sound only then.
   *
   * @param {Settings} settings
   * @param {boolean} listen Whether to open the microphone.
   * @throws {Error} A device cannot be had; the message tells the user why.
   */
  async start(settings, listen) {
    if (!(await this.sound.open(settings, listen))) return;
    if (this.link.state === "closed") {
      this._timeline = new Timeline(this.sound.rateHz);
      this._voice = settings.voice;
      this._client.connect(settings.key);
    }
    this._listener.onChange();
  }

  /** @param {boolean} muted */
  mute(muted) {
    if (this.sound.microphone) this.sound.microphone.muted = muted;
    this._listener.onChange();
  }

  /** @param {string} words Typed by the user; stops a reply in progress. */
  say(words) {
    const itemId = `typed_${Date.now().toString(36)}_${this.conversation.turns.length}`;
    this.interrupt();
    const turn = this.conversation.typed(words, itemId);
    this._asked = { turn, frame: this.sound.frame };
    this._typed.push({ itemId, words });
    this._advance();
    this._listener.onChange();
  }

  /** @returns {string[]} Typed messages without a reply; from now on the caller deals with them. */
  takeUnanswered() {
    return [...this._asking.splice(0), ...this._typed.splice(0)].map(({ words }) => words);
  }

  /** Stop the agent: its sound now, its reply as soon as the server gets the request. */
  interrupt() {
    const { active } = this.conversation;
    if (active && !this._stale.has(active.id)) this._client.send({ type: "response.cancel" });
    if (this._rtc) this._client.send({ type: "output_audio_buffer.clear" });
    this._silence();
  }

  /** Try the connection now instead of later. */
  retry() {
    this._client.retry();
  }

  hangUp() {
    // Nothing more will be heard of a reply that sounds now.
    const reply = this.conversation.turns.at(-1)?.replies.at(-1);
    if (reply && this.conversation.playing) this.conversation.interrupted(reply.itemId);
    this._client.close();
    this._release();
  }

  /** @returns {any} A constructor of connections for `RealtimeClient`: WebRTC or WebSocket. */
  _sockets() {
    const call = this;
    return function (/** @type {string} */ url, /** @type {string[]} */ protocols) {
      const { line } = call.sound;
      call._rtc = call._transport.wanted && line !== null;
      if (!call._rtc || !line) return new WebSocket(url, protocols);
      return new RtcSocket(url, protocols, line, () => {
        call._transport.wanted = call._transport.forced;
      });
    };
  }

  /** @param {import("./packer.js").Packet} packet */
  _send({ samples, frame }) {
    const event = { type: "input_audio_buffer.append", audio: encode(samples) };
    if (this._rtc ? this._client.open : this._client.send(event))
      this._timeline.sent(samples.length, frame);
  }

  /** @param {Link} link */
  _linked(link) {
    this.link = link;
    if (link.state === "open") {
      this.ready = true;
      this._timeline.reset();
      // No greeting for a user who has already spoken, or whose typed message is waiting.
      const greet = this.conversation.turns.length === 0;
      this._client.send(configuration(this.sound.speaker !== null, greet, this._voice));
      for (const event of history(this.conversation.turns)) this._client.send(event);
      this._advance();
    } else if (link.state !== "connecting") {
      this._stale.clear();
      this._items.clear();
      this._request = "";
      this._typed.unshift(...this._asking.splice(0));
      this._asked = null;
      this.sound.speaker?.drain();
      this.conversation.playing = this.sound.busy;
      this._making.drop();
      this.conversation.settle();
    }
    if (link.state === "closed") {
      if (link.reason) this._listener.onNotice(link.reason);
      // If the server hangs up while a farewell is playing, the farewell is played to its end.
      if (!this.sound.busy) this._release();
    }
    this._listener.onChange();
  }

  _advance() {
    if (this._typed.length === 0 || !this._client.open) return;
    if (this._request || this.conversation.active) return;
    const asked = this._typed.splice(0);
    this._asking.push(...asked);
    this._request = `reply_to_${asked.at(-1)?.itemId}`;
    // If the link breaks meanwhile, `_linked` takes all of it back.
    for (const { itemId, words } of asked) this._client.send(userMessage(itemId, words));
    this._client.send({ type: "response.create", event_id: this._request });
  }

  /** @param {ServerEvent} event A paced event whose time to be shown has come. */
  _show(event) {
    if (event.type === "quicksilver.draft") this._seen.add(String(event.text));
    apply(this.conversation, event);
  }

  /** @param {ServerEvent} event Queues the steps of drafts and replies, and drops outdated ones. */
  _make(event) {
    if (event.type === "quicksilver.draft") this._making.add(event);
    if (event.type === "quicksilver.denoising" && !this._seen.has(event.text)) {
      this._making.add(event);
    }
    if (event.type === "response.done") {
      const done = { type: "quicksilver.denoising", response_id: event.response?.id, text: "" };
      this._making.add(done);
    }
    if (event.type === "input_audio_buffer.speech_started") this._seen.clear();
    if (event.type === "response.created" || event.type === "input_audio_buffer.speech_started") {
      this._making.drop((step) => step.type === "quicksilver.draft");
    }
    // Steps that know less of the reply than the user has heard are not shown any more.
    const reply = this.conversation.turns.at(-1)?.replies.at(-1);
    if (event.type === "quicksilver.heard" && reply) {
      this._making.drop(
        (step) => step.response_id === reply.id && step.text !== "" && overtaken(reply, step.text),
      );
    }
  }

  /** @param {ServerEvent} event */
  _receive(event) {
    if (!PACED.has(event.type)) apply(this.conversation, event);
    this._make(event);
    this._record(event);
    if (event.type === "input_audio_buffer.speech_started") this._silence();
    if (event.type === "quicksilver.hold") this.sound.speaker?.hold(event.held);
    if (event.type === "input_audio_buffer.speech_stopped") this._speechEnded(event);
    if (event.type === "response.output_audio.delta") this._hear(event);
    if (event.type === "response.output_audio.done") this.sound.speaker?.end(event.item_id);
    if (event.type.startsWith("output_audio_buffer.")) this._sounds(event);
    const refused = event.type === "error" && event.error?.event_id === this._request;
    if (refused) this.conversation.thinking = false;
    if (event.type === "response.created" || refused) {
      this._request = "";
      this._asking = [];
    }
    // The user typed more before this reply began.
    if (event.type === "response.created" && this._typed.length > 0) this.interrupt();
    if (event.type === "response.done" || event.type === "error") this._advance();
    this._listener.onChange();
  }

  /** @param {ServerEvent} event To be called once the conversation is up to date with it. */
  _record(event) {
    const { turns } = this.conversation;
    const nowMs = performance.now();
    if (event.type === "input_audio_buffer.speech_started" && turns.length > 0) {
      const frame = this._timeline.frameAt(event.audio_start_ms);
      const agoMs = frame === null ? 0 : ((this.sound.frame - frame) * 1000) / this.sound.rateHz;
      this._recorder.begin(turns[turns.length - 1], nowMs, Math.max(0, agoMs));
    }
    const itsReply = (/** @type {import("./conversation.js").Reply} */ { id }) =>
      id === (event.response_id ?? event.response?.id);
    const { item_id } = event;
    const turn =
      turns.findLast((each) => each.replies.some(itsReply)) ??
      turns.findLast(({ user }) => item_id !== undefined && user?.itemId === item_id) ??
      turns.at(-1);
    const moment = momentOf(event, turn?.replies.find(itsReply));
    if (turn && moment) this._recorder.note(turn, nowMs, moment);
  }

  /** @param {ServerEvent} event */
  _hear(event) {
    if (this._stale.has(event.response_id)) return;
    try {
      this.sound.speaker?.play(String(event.item_id), decode(event.delta));
      this._items.add(String(event.item_id));
      this.conversation.playing = this.sound.busy;
    } catch (error) {
      this._listener.onNotice(`The server sent sound that cannot be decoded (${error}).`);
    }
  }

  /** @param {ServerEvent} event About the sound that the server plays over WebRTC. */
  _sounds({ type, response_id }) {
    const replies = this.conversation.turns.flatMap((turn) => turn.replies);
    const id = replies.findLast((reply) => reply.id === response_id)?.itemId ?? "";
    if (type.endsWith("started")) this._played({ type: "audible", id, frame: this.sound.frame });
    if (type.endsWith("stopped")) this._played({ type: "finished", id, playedMs: 0 });
    if (type.endsWith("cleared")) this.conversation.interrupted(id);
    this.conversation.playing = type.endsWith("started");
  }

  /** @param {ServerEvent} event */
  _speechEnded(event) {
    const turn = this.conversation.turns.findLast((each) => each.user?.itemId === event.item_id);
    const frame = this._timeline.frameAt(event.audio_end_ms);
    this._asked = turn && frame !== null ? { turn, frame } : null;
  }

  /** Silence the agent because the user interrupts, and tell the server how much was heard. */
  async _silence() {
    if (this.conversation.active) this._stale.add(this.conversation.active.id);
    if (!this.sound.speaker?.busy) return;
    this.conversation.playing = false;
    for (const { id, playedMs } of await this.sound.speaker.flush()) {
      this.conversation.interrupted(id);
      // A new connection knows nothing of the items of an earlier one.
      if (!this._items.has(id)) continue;
      const audio_end_ms = Math.floor(playedMs);
      this._client.send({
        type: "conversation.item.truncate",
        item_id: id,
        content_index: 0,
        audio_end_ms,
      });
    }
    if (this.link.state === "closed") this._release();
    this._listener.onChange();
  }

  /** @param {import("./player.js").Report} report */
  _played(report) {
    const turn = this.conversation.turnOf(report.id);
    if (turn && report.type !== "played") {
      const kind = report.type === "audible" ? "sound" : "silence";
      this._recorder.note(turn, performance.now(), { kind, text: "" });
    }
    if (report.type === "audible") this._audible(report);
    if (report.type === "played") this._progress(report.id, report.playedMs);
    if (report.type === "finished") {
      this._progress(report.id, report.playedMs);
      this.conversation.finished(report.id);
      this.conversation.playing = this.sound.busy;
      if (this.link.state === "closed" && !this.sound.busy) this._release();
    }
    this._listener.onChange();
  }

  /** @param {{id: string, frame: number}} report */
  _audible({ id, frame }) {
    const turn = this.conversation.turnOf(id);
    if (!this._asked || turn !== this._asked.turn) return;
    const elapsedMs = ((frame - this._asked.frame) * 1000) / this.sound.rateHz;
    this.conversation.measured(turn, elapsedMs + (this.sound.speaker?.latencyMs ?? 0));
    this._asked = null;
  }

  /** @param {string} id @param {number} playedMs */
  _progress(id, playedMs) {
    if (!this._items.has(id)) return;
    this._client.send({
      type: "quicksilver.played",
      item_id: id,
      audio_end_ms: Math.floor(playedMs),
    });
  }

  _release() {
    this.sound.close();
    this.conversation.playing = false;
    this._listener.onChange();
  }
}
