// @ts-check
/**
 * Turns the microphone's blocks, at the device's rate, into packets of 24 kHz PCM with their times.
 *
 * Runs on the audio thread, inside capture-worklet.js.
 */

import { Resampler } from "./resample.js";
import { WIRE_HZ, toInt16 } from "./pcm.js";

/**
 * @typedef {object} Packet
 * @property {Int16Array} samples At 24 kHz.
 * @property {number} frame Position of the first sample on the audio context's clock, in its frames.
 */

export class Packer {
  /**
   * @param {number} rateHz The device's rate.
   * @param {number} packetMs Length of a packet.
   */
  constructor(rateHz, packetMs = 20) {
    this._rateHz = rateHz;
    this._resampler = new Resampler(rateHz, WIRE_HZ);
    this._packet = new Float32Array(Math.round((WIRE_HZ * packetMs) / 1000));
    this._filled = 0;
    this._made = 0;
    /** @type {number | null} */
    this._origin = null;
  }

  /**
   * @param {Float32Array} block
   * @param {number} frame The context's position at the block's first sample.
   * @returns {Packet[]} Packets completed by this block.
   */
  push(block, frame) {
    this._origin ??= frame;
    /** @type {Packet[]} */
    const packets = [];
    let rest = this._resampler.push(block);
    while (rest.length > 0) {
      const count = Math.min(rest.length, this._packet.length - this._filled);
      this._packet.set(rest.subarray(0, count), this._filled);
      this._filled += count;
      rest = rest.subarray(count);
      if (this._filled < this._packet.length) break;
      const start = this._origin + (this._made * this._rateHz) / WIRE_HZ;
      packets.push({ samples: toInt16(this._packet), frame: start });
      this._made += this._packet.length;
      this._filled = 0;
    }
    return packets;
  }
}
