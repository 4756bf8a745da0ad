// @ts-check
/**
 * A first-in first-out ring of audio samples.
 *
 * It starts small and doubles up to a limit, so that a long reply that arrives faster than it is
 * played fits, and a short one costs little.
 */

export class Ring {
  /**
   * @param {number} capacity Samples held before the first growth, at least 1.
   * @param {number} limit Most samples ever held; new samples that do not fit are dropped.
   */
  constructor(capacity, limit = capacity) {
    if (!(capacity >= 1) || !(limit >= capacity)) {
      throw new RangeError(
        `got capacity ${capacity}, limit ${limit}; expected 1 <= capacity <= limit`,
      );
    }
    this.limit = limit;
    this.length = 0;
    this._data = new Float32Array(capacity);
    this._start = 0;
  }

  /** @returns {number} Samples that fit before the next growth. */
  get capacity() {
    return this._data.length;
  }

  /**
   * Append samples.
   *
   * @param {Float32Array} samples
   * @returns {number} How many were kept.
   */
  push(samples) {
    this._reserve(this.length + samples.length);
    const count = Math.min(samples.length, this.capacity - this.length);
    const end = (this._start + this.length) % this.capacity;
    const first = Math.min(count, this.capacity - end);
    this._data.set(samples.subarray(0, first), end);
    this._data.set(samples.subarray(first, count), 0);
    this.length += count;
    return count;
  }

  /**
   * Take the oldest samples out.
   *
   * @param {Float32Array} out Filled from its start; the rest of it is left alone.
   * @param {number} count Most samples to read.
   * @returns {number} How many were read.
   */
  read(out, count = out.length) {
    const taken = Math.min(count, out.length, this.length);
    const first = Math.min(taken, this.capacity - this._start);
    out.set(this._data.subarray(this._start, this._start + first));
    out.set(this._data.subarray(0, taken - first), first);
    this._start = (this._start + taken) % this.capacity;
    this.length -= taken;
    return taken;
  }

  /** Drop everything held. */
  clear() {
    this._start = 0;
    this.length = 0;
  }

  /** @param {number} needed */
  _reserve(needed) {
    if (needed <= this.capacity || this.capacity === this.limit) return;
    let capacity = this.capacity;
    while (capacity < needed && capacity < this.limit)
      capacity = Math.min(capacity * 2, this.limit);
    const data = new Float32Array(capacity);
    const held = this.read(data);
    this._data = data;
    this._start = 0;
    this.length = held;
  }
}
