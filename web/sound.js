// @ts-check
/**
 * The device's sound: one audio context with the loudspeaker at one end and the microphone at the other.
 *
 * Both ends share its clock, which is what voice-to-voice times are measured on.
 */

import { Microphone, askForMicrophone, obstacle } from "./microphone.js";
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

/** What is flushed takes a few milliseconds to fade. */
const FADE_MS = 50;

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
  }

  /** @returns {number} Frames a second of the clock; 1 while there is none. */
  get rateHz() {
    return this._context?.sampleRate ?? 1;
  }

  /** @returns {number} Where the clock stands, in frames. */
  get frame() {
    return (this._context?.currentTime ?? 0) * this.rateHz;
  }

  /** @returns {boolean} Whether something is being played, or waits to be. */
  get busy() {
    return this.speaker?.busy === true;
  }

  /**
   * Open what is not open yet. Where a page may have no sound at all, nothing is opened.
   *
   * @param {{microphone: string, speaker: string}} devices Ids; empty for the system's default.
   * @param {boolean} listen Whether to open the microphone as well.
   * @throws {import("./microphone.js").MicrophoneError}
   */
  async open(devices, listen) {
    const stream = listen ? await askForMicrophone(devices.microphone) : null;
    try {
      if (!obstacle()) await this._openSpeaker(devices.speaker);
      if (stream) await this._openMicrophone(stream);
    } catch (error) {
      stream?.getTracks().forEach((track) => track.stop());
      this.close();
      throw error;
    }
  }

  /** @param {string} deviceId @throws {import("./microphone.js").MicrophoneError} */
  async changeMicrophone(deviceId) {
    if (this.microphone) this.microphone.change(await askForMicrophone(deviceId));
  }

  /** @param {string} deviceId */
  async changeSpeaker(deviceId) {
    const context = /** @type {any} */ (this._context);
    if (context?.setSinkId) await context.setSinkId(deviceId);
  }

  close() {
    this.microphone?.stop();
    this.microphone = null;
    this.speaker?.flush();
    this.speaker = null;
    const context = this._context;
    this._context = null;
    setTimeout(() => context?.close(), FADE_MS);
  }

  /** @param {string} deviceId */
  async _openSpeaker(deviceId) {
    if (this.speaker) return;
    this._context = new AudioContext({ latencyHint: "interactive" });
    if (deviceId) await this.changeSpeaker(deviceId);
    this.speaker = await Speaker.open(this._context, this._listener);
    await this._context.resume();
  }

  /** @param {MediaStream} stream */
  async _openMicrophone(stream) {
    if (this.microphone) {
      this.microphone.change(stream);
      return;
    }
    const context = /** @type {AudioContext} */ (this._context);
    this.microphone = await Microphone.open(context, stream, this._listener);
  }
}
