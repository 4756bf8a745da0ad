// @ts-check
/**
 * The device's sound: one audio context with the loudspeaker at one end and the microphone at the other.
 *
 * Both ends share its clock, which is what voice-to-voice times are measured on.
 */

import { Microphone, askForMicrophone, obstacle } from "./microphone.js";
import { Soundtrack } from "./soundtrack.js";
import { Speaker } from "./speaker.js";

/** @typedef {import("./packer.js").Packet} Packet */
/** @typedef {import("./speaker.js").Tap} Tap */

/**
 * @typedef {object} SoundListener
 * @property {(packet: Packet) => void} onPacket
 * @property {() => void} onLost The microphone was unplugged.
 * @property {(report: import("./player.js").Report) => void} onReport
 * @property {Tap} [onTap]
 */

/** Sound that is flushed takes a few milliseconds to fade. */
const FADE_MS = 50;

/** @param {MediaStream | null} stream */
function stop(stream) {
  stream?.getTracks().forEach((track) => track.stop());
}

export class Sound {
  /** @param {SoundListener} listener */
  constructor(listener) {
    this._listener = listener;
    /** @type {AudioContext | null} */
    this._context = null;
    /** @type {Microphone | null} */
    this.microphone = null;
    /** @type {Speaker | null} */
    this.speaker = null;
    /** @type {Soundtrack | null} The call's sound so far; null if the browser cannot record. */
    this.track = null;
    /** @type {MediaStreamAudioDestinationNode | null} Gives the microphone's sound as a stream. */
    this._out = null;
    /** Chromium gives a remote stream's sound only while an element plays it, even if muted. */
    this._element = new Audio();
    this._closings = 0;
  }

  /** @returns {import("./rtc-socket.js").Line | null} Both ends, for a call by WebRTC. */
  get line() {
    const { _context: context, _out: out, speaker } = this;
    if (!context || !out || !speaker) return null;
    const hear = (/** @type {MediaStream} */ stream) => {
      this._element.muted = this._element.autoplay = true;
      this._element.srcObject = stream;
      context.createMediaStreamSource(stream).connect(speaker.analyser);
    };
    return { stream: out.stream, hear };
  }

  /** @returns {number} Frames per second of the clock; 1 while there is none. */
  get rateHz() {
    return this._context?.sampleRate ?? 1;
  }

  /** @returns {number} The clock's time, in frames. */
  get frame() {
    return (this._context?.currentTime ?? 0) * this.rateHz;
  }

  /** @returns {boolean} Whether sound is being played or waits to be. */
  get busy() {
    return this.speaker?.busy === true;
  }

  /**
   * Open what is not open yet. If the page may not use sound at all, nothing is opened.
   *
   * @param {{microphone: string, speaker: string}} devices Ids; empty for the system's default.
   * @param {boolean} listen Whether to open the microphone as well.
   * @returns {Promise<boolean>} False if `close` was called meanwhile; nothing is open then.
   * @throws {Error} A device cannot be had; the message tells the user why.
   */
  async open(devices, listen) {
    const closings = this._closings;
    const { speaker } = this;
    const stream = listen ? await askForMicrophone(devices.microphone) : null;
    try {
      if (closings === this._closings && !obstacle()) await this._openSpeaker(devices.speaker);
      if (closings === this._closings && stream) await this._openMicrophone(stream);
      if (closings === this._closings) return true;
    } catch (error) {
      if (closings === this._closings) {
        stop(stream);
        // A call that is on without a microphone goes on.
        if (!speaker) this.close();
        throw error;
      }
    }
    stop(stream);
    this.close();
    return false;
  }

  /** @param {string} deviceId @throws {import("./microphone.js").MicrophoneError} */
  async changeMicrophone(deviceId) {
    if (!this.microphone) return;
    const stream = await askForMicrophone(deviceId);
    // The user may have hung up while the browser asked for permission.
    if (this.microphone) this.microphone.change(stream);
    else stop(stream);
  }

  /** @param {string} deviceId */
  async changeSpeaker(deviceId) {
    const context = /** @type {any} */ (this._context);
    if (!context?.setSinkId) return;
    try {
      await context.setSinkId(deviceId);
    } catch {
      throw new Error("The chosen loudspeaker is gone. Choose another in the settings.");
    }
  }

  /** Resume if the browser has suspended the sound, as it does for a telephone call. */
  wake() {
    if (!this._context || this._context.state === "running") return;
    // Refused during the telephone call; the next change of state or visit to the page tries again.
    this._context.resume().catch(() => {});
  }

  close() {
    this._closings += 1;
    this.track?.stop();
    this.microphone?.stop();
    this.microphone = null;
    this.speaker?.flush();
    this.speaker = null;
    this._out = null;
    this._element.srcObject = null;
    const context = this._context;
    this._context = null;
    if (context) context.onstatechange = null;
    setTimeout(() => context?.close(), FADE_MS);
  }

  /** @param {string} deviceId */
  async _openSpeaker(deviceId) {
    if (this.speaker) return;
    const context = new AudioContext({ latencyHint: "interactive" });
    this._context = context;
    if (deviceId) await this.changeSpeaker(deviceId);
    this._out = context.createMediaStreamDestination();
    this.speaker = await Speaker.open(context, this._listener);
    this.track = "MediaRecorder" in window ? new Soundtrack(context) : null;
    this.track?.add(this.speaker.analyser);
    await context.resume();
    context.onstatechange = () => this.wake();
  }

  /** @param {MediaStream} stream */
  async _openMicrophone(stream) {
    if (this.microphone) {
      this.microphone.change(stream);
      return;
    }
    const context = /** @type {AudioContext} */ (this._context);
    this.microphone = await Microphone.open(context, stream, this._listener);
    if (this._out) this.microphone.analyser.connect(this._out);
    this.track?.add(this.microphone.analyser);
  }
}
