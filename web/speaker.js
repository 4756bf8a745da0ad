// @ts-check
/** The loudspeaker: plays replies, and reports how far each has been played. */

import { Resampler } from "./resample.js";
import { WIRE_HZ, toFloat } from "./pcm.js";
import { addWorklet } from "./worklets.js";

/** @typedef {import("./player.js").Report} Report */
/** @typedef {{id: string, playedMs: number}} Cut */
/** @typedef {(block: Float32Array, frame: number) => void} Tap */
/** @typedef {{onReport: (report: Report) => void, onTap?: Tap}} SpeakerListener */
/** @typedef {{reports?: Report[], flushed?: number, items: Cut[], tapped?: Float32Array, frame: number}} Message */

export class Speaker {
  /**
   * @param {AudioContext} context
   * @param {SpeakerListener} listener
   * @returns {Promise<Speaker>}
   */
  static async open(context, listener) {
    await addWorklet(context, "./playback-worklet.js");
    return new Speaker(context, listener);
  }

  /**
   * @param {AudioContext} context
   * @param {SpeakerListener} listener
   */
  constructor(context, listener) {
    this._context = context;
    this._listener = listener;
    this._resampler = new Resampler(WIRE_HZ, context.sampleRate);
    this._current = "";
    /** @type {Set<string>} Items pushed and not finished. */
    this._unfinished = new Set();
    /** @type {((items: Cut[]) => void)[]} */
    this._flushes = [];
    this._node = new AudioWorkletNode(context, "playback", {
      numberOfInputs: 0,
      outputChannelCount: [1],
      processorOptions: { tap: listener.onTap !== undefined },
    });
    this._node.port.onmessage = ({ data }) => this._receive(data);
    this.analyser = new AnalyserNode(context, { fftSize: 1024 });
    this._node.connect(this.analyser).connect(context.destination);
  }

  /** @returns {boolean} Whether sound is being played or waits to be. */
  get busy() {
    return this._unfinished.size > 0;
  }

  /** @returns {number} Milliseconds from the worklet to the air, as far as the browser knows. */
  get latencyMs() {
    return ((this._context.baseLatency || 0) + (this._context.outputLatency || 0)) * 1000;
  }

  /** @param {string} id @param {Int16Array} samples At 24 kHz. */
  play(id, samples) {
    if (id !== this._current) this._finish();
    this._current = id;
    this._push(id, this._resampler.push(toFloat(samples)));
  }

  /** @param {string} id Of the item whose audio is complete. */
  end(id) {
    if (id === this._current) this._finish();
  }

  /** Nothing more will arrive: play what has arrived to its end, even if it was held. */
  drain() {
    this.hold(false);
    this._finish();
  }

  /** @param {boolean} held True: fall silent and keep the position; false: go on from there. */
  hold(held) {
    this._node.port.postMessage({ hold: held });
  }

  /** @returns {Promise<Cut[]>} What was cut off; the sound stops at once. */
  flush() {
    this._resampler.reset();
    this._current = "";
    this._unfinished.clear();
    this._node.port.postMessage({ flush: 1 });
    return new Promise((resolve) => this._flushes.push(resolve));
  }

  _finish() {
    if (!this._current) return;
    this._push(this._current, this._resampler.flush());
    this._node.port.postMessage({ end: this._current });
    this._current = "";
  }

  /** @param {string} id @param {Float32Array} samples */
  _push(id, samples) {
    this._unfinished.add(id);
    this._node.port.postMessage({ push: id, samples }, [samples.buffer]);
  }

  /** @param {Message} message */
  _receive(message) {
    if (message.tapped) this._listener.onTap?.(message.tapped, message.frame);
    if (message.flushed) this._flushes.shift()?.(message.items);
    for (const report of message.reports ?? []) {
      if (report.type === "finished") this._unfinished.delete(report.id);
      this._listener.onReport(report);
    }
  }
}
