// @ts-check
/** Audio-thread shell around `Packer`: posts `Packet`s of the first input channel. */

import { Packer } from "./packer.js";

class CaptureProcessor extends AudioWorkletProcessor {
  constructor() {
    super();
    this._packer = new Packer(sampleRate);
    this._silence = new Float32Array(128);
  }

  /**
   * @param {Float32Array[][]} inputs
   * @returns {boolean}
   */
  process(inputs) {
    // Without a channel the microphone is being changed; the clock must go on meanwhile.
    const block = inputs[0]?.[0] ?? this._silence;
    for (const packet of this._packer.push(block, currentFrame)) {
      this.port.postMessage(packet, [packet.samples.buffer]);
    }
    return true;
  }
}

registerProcessor("capture", CaptureProcessor);
