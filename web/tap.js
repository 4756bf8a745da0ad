// @ts-check
/** Keeps what the page plays, so that a test can listen to it. */

import { encode, toInt16 } from "./pcm.js";

const LONGEST_BLOCKS = 48000;

export class Tap {
  constructor() {
    /** @type {Float32Array[]} */
    this._blocks = [];
    this._endFrame = 0;
  }

  /** @param {Float32Array} block @param {number} frame The context's position at its start. */
  add(block, frame) {
    this._blocks.push(block);
    this._endFrame = frame + block.length;
    if (this._blocks.length > LONGEST_BLOCKS) this._blocks.splice(0, LONGEST_BLOCKS / 2);
  }

  /** @returns {{base64: string, endFrame: number}} 16-bit little-endian PCM at the context's rate. */
  recording() {
    const length = this._blocks.reduce((sum, block) => sum + block.length, 0);
    const whole = new Float32Array(length);
    let at = 0;
    for (const block of this._blocks) {
      whole.set(block, at);
      at += block.length;
    }
    return { base64: encode(toInt16(whole)), endFrame: this._endFrame };
  }
}
