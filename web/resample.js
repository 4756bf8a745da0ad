// @ts-check
/**
 * Streaming sample-rate conversion with a windowed sinc, for any pair of whole rates.
 *
 * The filter is centred: output k is at input position k * fromHz / toHz, so positions convert by
 * the ratio of the rates alone. The price is a delay of half a filter (about half a millisecond).
 */

const ZERO_CROSSINGS = 12;
const ROLLOFF = 0.94;

/** @param {number} a @param {number} b @returns {number} */
function gcd(a, b) {
  return b === 0 ? a : gcd(b, a % b);
}

/**
 * One filter per phase, each normalised to unit gain at 0 Hz.
 *
 * @param {number} phases
 * @param {number} half Taps on each side.
 * @param {number} cutoff As a share of the input's Nyquist frequency.
 * @returns {Float32Array[]}
 */
function filterBank(phases, half, cutoff) {
  return Array.from({ length: phases }, (_, phase) => {
    const taps = new Float32Array(2 * half);
    let sum = 0;
    for (let i = 0; i < taps.length; i += 1) {
      const x = i - half + 1 - phase / phases;
      const sinc = x === 0 ? cutoff : Math.sin(Math.PI * cutoff * x) / (Math.PI * x);
      const window = Math.abs(x) < half ? Math.cos((Math.PI * x) / (2 * half)) ** 2 : 0;
      taps[i] = sinc * window;
      sum += taps[i];
    }
    return taps.map((tap) => tap / sum);
  });
}

export class Resampler {
  /**
   * @param {number} fromHz
   * @param {number} toHz
   */
  constructor(fromHz, toHz) {
    if (!Number.isInteger(fromHz) || !Number.isInteger(toHz) || fromHz < 1 || toHz < 1) {
      throw new RangeError(`got rates ${fromHz} and ${toHz}; expected positive whole numbers`);
    }
    const common = gcd(fromHz, toHz);
    this._phases = toHz / common;
    this._step = fromHz / common;
    const cutoff = Math.min(1, toHz / fromHz) * ROLLOFF;
    this._half = fromHz === toHz ? 0 : Math.ceil(ZERO_CROSSINGS / cutoff);
    this._bank = this._half ? filterBank(this._phases, this._half, cutoff) : [];
    /** Input that is kept, from `half - 1` samples before the next output's position on. */
    this._held = new Float32Array(Math.max(0, this._half - 1));
    this._phase = 0;
  }

  /** Forget all input, as if new. */
  reset() {
    this._held = new Float32Array(Math.max(0, this._half - 1));
    this._phase = 0;
  }

  /**
   * @param {Float32Array} input
   * @returns {Float32Array} The output that can be computed by now; a new array, possibly empty.
   */
  push(input) {
    if (this._half === 0) return input.slice();
    const held = new Float32Array(this._held.length + input.length);
    held.set(this._held);
    held.set(input, this._held.length);
    const width = 2 * this._half;
    /** @type {number[]} */
    const out = [];
    let at = 0;
    while (at + width <= held.length) {
      const taps = this._bank[this._phase];
      let sum = 0;
      for (let i = 0; i < width; i += 1) sum += held[at + i] * taps[i];
      out.push(sum);
      this._phase += this._step;
      at += Math.floor(this._phase / this._phases);
      this._phase %= this._phases;
    }
    // The filter is wider than one step, so `at` never passes the end of what is held.
    this._held = held.slice(at);
    return Float32Array.from(out);
  }

  /** @returns {Float32Array} The rest of the output, as if silence followed the input. */
  flush() {
    const tail = this._half ? this.push(new Float32Array(this._half)) : new Float32Array(0);
    this.reset();
    return tail;
  }
}
