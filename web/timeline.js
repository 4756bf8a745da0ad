// @ts-check
/**
 * Where each millisecond of the audio that was sent lies on the audio context's clock.
 *
 * The server gives positions in the audio that it has received; the page measures microphone and
 * loudspeaker on one audio clock. This converts between the two, so that measuring voice to voice
 * needs no wall clock.
 */

import { WIRE_HZ } from "./pcm.js";

export class Timeline {
  /**
   * @param {number} rateHz The audio context's rate.
   * @param {number} keptPackets How far back positions stay known.
   */
  constructor(rateHz, keptPackets = 6000) {
    this.rateHz = rateHz;
    this.sentSamples = 0;
    this._kept = keptPackets;
    /** @type {{position: number, frame: number}[]} */
    this._packets = [];
  }

  /** A new session: positions start from 0 again. */
  reset() {
    this.sentSamples = 0;
    this._packets = [];
  }

  /**
   * @param {number} samples Length of a packet that has been sent, at 24 kHz.
   * @param {number} frame The context's frame at its first sample.
   */
  sent(samples, frame) {
    this._packets.push({ position: this.sentSamples, frame });
    this.sentSamples += samples;
    if (this._packets.length > this._kept) this._packets.splice(0, this._kept / 2);
  }

  /**
   * @param {number} ms Position in the sent audio.
   * @returns {number | null} The context's frame at that position; null if it is not, or no longer,
   *   known.
   */
  frameAt(ms) {
    const position = (ms * WIRE_HZ) / 1000;
    if (!(position <= this.sentSamples)) return null;
    const packet = this._packets.findLast((each) => each.position <= position);
    if (!packet) return null;
    return packet.frame + ((position - packet.position) * this.rateHz) / WIRE_HZ;
  }
}
