// @ts-check
/** The microphone: requests it, explains why it cannot be had, and delivers packets. */

import { addWorklet } from "./worklets.js";

/** @typedef {import("./packer.js").Packet} Packet */

/** The microphone cannot be used; `message` tells the user why and what to do. */
export class MicrophoneError extends Error {}

/** What getUserMedia's errors mean to the user. */
const REASONS = {
  NotAllowedError:
    "The browser was not allowed to use the microphone. Allow it in the address bar and start again, or type below.",
  NotFoundError: "No microphone was found. Plug one in and start again, or type below.",
  NotReadableError:
    "The microphone is in use by another program. Close it and start again, or type below.",
  OverconstrainedError:
    "The chosen microphone is gone. Choose another in the settings, or type below.",
};

/**
 * @param {unknown} error
 * @returns {MicrophoneError}
 */
export function explain(error) {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  const reason = REASONS[/** @type {keyof typeof REASONS} */ (name)];
  return new MicrophoneError(
    reason ?? `The microphone cannot be used (${error}). You can type below.`,
  );
}

/** @returns {string} Why this page cannot have a microphone at all; empty if it can. */
export function obstacle() {
  if (!globalThis.isSecureContext) {
    return "Browsers give a page the microphone only over HTTPS or from localhost. You can type below; replies are shown as text.";
  }
  if (!navigator.mediaDevices?.getUserMedia) {
    return "This browser offers no microphone to web pages. You can type below.";
  }
  return "";
}

/**
 * @param {string} deviceId Empty for the system's default.
 * @returns {Promise<MediaStream>}
 * @throws {MicrophoneError}
 */
export async function askForMicrophone(deviceId) {
  const reason = obstacle();
  if (reason) throw new MicrophoneError(reason);
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: {
        deviceId: deviceId ? { exact: deviceId } : undefined,
        channelCount: 1,
        echoCancellation: true,
        noiseSuppression: true,
        autoGainControl: true,
      },
    });
  } catch (error) {
    throw explain(error);
  }
}

export class Microphone {
  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   * @param {{onPacket: (packet: Packet) => void, onLost: () => void}} listener
   * @returns {Promise<Microphone>}
   */
  static async open(context, stream, listener) {
    await addWorklet(context, "./capture-worklet.js");
    return new Microphone(context, stream, listener);
  }

  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   * @param {{onPacket: (packet: Packet) => void, onLost: () => void}} listener
   */
  constructor(context, stream, listener) {
    this._context = context;
    this._listener = listener;
    this._muted = false;
    this.analyser = new AnalyserNode(context, { fftSize: 1024 });
    this._node = new AudioWorkletNode(context, "capture", {
      channelCount: 1,
      channelCountMode: "explicit",
    });
    this._node.port.onmessage = ({ data }) => listener.onPacket(data);
    // Its output is silence, but a node runs only if it is connected to the destination.
    this.analyser.connect(this._node).connect(context.destination);
    /** @type {MediaStreamAudioSourceNode | null} */
    this._source = null;
    this.change(stream);
  }

  /** @returns {boolean} False once the device is gone, until another takes over. */
  get live() {
    return this._tracks().some((track) => track.readyState === "live");
  }

  /** @returns {boolean} */
  get muted() {
    return this._muted;
  }

  set muted(muted) {
    this._muted = muted;
    for (const track of this._tracks()) track.enabled = !muted;
  }

  /** @param {MediaStream} stream Of the device that takes over; the packets go on. */
  change(stream) {
    this._release();
    this._source = this._context.createMediaStreamSource(stream);
    this._source.connect(this.analyser);
    this.muted = this._muted;
    for (const track of this._tracks()) track.onended = () => this._listener.onLost();
  }

  stop() {
    this._release();
    this._node.port.onmessage = null;
    this._node.disconnect();
  }

  _release() {
    for (const track of this._tracks()) {
      track.onended = null;
      track.stop();
    }
    this._source?.disconnect();
    this._source = null;
  }

  /** @returns {MediaStreamTrack[]} */
  _tracks() {
    return this._source?.mediaStream.getAudioTracks() ?? [];
  }
}
