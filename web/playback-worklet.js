// @ts-check
/**
 * Audio-thread shell around `Player`.
 *
 * Takes {push: id, samples}, {end: id}, {hold} and {flush: token}; posts the player's reports in a list and
 * {flushed: token, items}. With `processorOptions.tap` it also posts every block it plays.
 */

import { Player } from "./player.js";

class PlaybackProcessor extends AudioWorkletProcessor {
  /** @param {{processorOptions: {tap: boolean}}} options */
  constructor(options) {
    super();
    this._tap = options.processorOptions.tap;
    this._player = new Player(sampleRate);
    this.port.onmessage = ({ data }) => this._receive(data);
  }

  /** @param {{push?: string, samples: Float32Array, end?: string, hold?: boolean, flush?: number}} message */
  _receive(message) {
    if (message.push !== undefined) this._player.push(message.push, message.samples);
    if (message.end !== undefined) this._player.end(message.end);
    if (message.hold !== undefined) this._player.hold(message.hold);
    if (message.flush !== undefined) {
      this.port.postMessage({ flushed: message.flush, items: this._player.flush() });
    }
  }

  /**
   * @param {Float32Array[][]} _inputs
   * @param {Float32Array[][]} outputs
   * @returns {boolean}
   */
  process(_inputs, outputs) {
    const out = outputs[0][0];
    const reports = this._player.render(out, currentFrame);
    if (reports.length > 0) this.port.postMessage({ reports });
    if (this._tap) this.port.postMessage({ tapped: out.slice(), frame: currentFrame });
    return true;
  }
}

registerProcessor("playback", PlaybackProcessor);
