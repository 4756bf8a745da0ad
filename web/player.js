// @ts-check
/**
 * Plays replies one after another and knows how much of each has been played.
 *
 * Runs on the audio thread, inside playback-worklet.js. Sound never stops or starts with a click:
 * where audio runs out, or is flushed, the last few milliseconds fade.
 */

import { Ring } from "./ring.js";

/** Below this a sample does not count as audible (-50 dB of full scale). */
export const AUDIBLE = 0.003;

/**
 * @typedef {object} Item
 * @property {string} id
 * @property {number} received Frames pushed so far.
 * @property {number} played Frames played so far.
 * @property {boolean} ended Whether all of it has arrived.
 * @property {boolean} audible Whether an audible sample of it has been played.
 */

/**
 * @typedef {{type: "audible", id: string, frame: number}
 *   | {type: "played", id: string, playedMs: number}
 *   | {type: "finished", id: string, playedMs: number}} Report
 */

export class Player {
  /**
   * @param {number} rateHz
   * @param {{fadeMs?: number, rebufferMs?: number, reportMs?: number, longestS?: number}} [options]
   *   `rebufferMs` of audio must have arrived before sound that ran out goes on.
   */
  constructor(rateHz, { fadeMs = 5, rebufferMs = 80, reportMs = 100, longestS = 180 } = {}) {
    this._msPerFrame = 1000 / rateHz;
    this._fade = Math.round((fadeMs * rateHz) / 1000);
    this._rebuffer = Math.round((rebufferMs * rateHz) / 1000);
    this._reportEvery = Math.round((reportMs * rateHz) / 1000);
    this._ring = new Ring(rateHz * 4, rateHz * longestS);
    /** @type {Item[]} */
    this._items = [];
    this._tail = new Float32Array(0);
    this._gain = 0;
    this._held = false;
    this._starved = false;
    this._sinceReport = 0;
  }

  /** @returns {boolean} Whether anything is left to play. */
  get busy() {
    return this._items.length > 0 || this._tail.length > 0;
  }

  /**
   * @param {string} id The reply's item; a new one is queued after the earlier ones.
   * @param {Float32Array} samples
   */
  push(id, samples) {
    this._item(id).received += this._ring.push(samples);
  }

  /** @param {string} id Of the item that has arrived completely. */
  end(id) {
    const item = this._items.find((each) => each.id === id);
    if (item) item.ended = true;
  }

  /** @param {boolean} held True: fade out and keep the position; false: go on from there. */
  hold(held) {
    this._held = held;
  }

  /**
   * Stop at once, with a short fade, and forget what was queued.
   *
   * @returns {{id: string, playedMs: number}[]} The items that were not finished.
   */
  flush() {
    const cut = this._items.map(({ id, played }) => ({ id, playedMs: played * this._msPerFrame }));
    this._tail = new Float32Array(this._fade);
    this._ring.read(this._tail);
    for (let i = 0; i < this._fade; i += 1)
      this._tail[i] *= this._gain * (1 - (i + 1) / this._fade);
    this._ring.clear();
    this._items = [];
    this._gain = 0;
    this._held = false;
    this._starved = false;
    return cut;
  }

  /**
   * Fill one block.
   *
   * @param {Float32Array} out
   * @param {number} frame The context's position at the block's first sample.
   * @returns {Report[]}
   */
  render(out, frame) {
    out.fill(0);
    const count = this._take(out);
    const reports = this._account(out, count, frame);
    this._mixTail(out);
    return reports;
  }

  /** @param {string} id @returns {Item} */
  _item(id) {
    const last = this._items.at(-1);
    if (last?.id === id) return last;
    // Only the newest item is still arriving: an item with a successor is complete.
    if (last) last.ended = true;
    // A hold that came after all was played was about what is over.
    else this._held = false;
    const item = { id, received: 0, played: 0, ended: false, audible: false };
    this._items.push(item);
    return item;
  }

  /**
   * Read what may be played now, with the fades in and out.
   *
   * @param {Float32Array} out
   * @returns {number} Frames read.
   */
  _take(out) {
    if (this._held) return this._fadeOut(out);
    const open = this._items.length > 0 && !this._items[this._items.length - 1].ended;
    if (this._starved && open && this._ring.length < this._rebuffer) return 0;
    // Until the item is complete, keep back a few milliseconds to fade out if no more arrives.
    const whole = this._ring.length - (open ? this._fade : 0) >= out.length;
    const starving = open && !whole;
    if (starving && this._gain === 0) return 0;
    this._starved = false;
    const count = this._ring.read(out);
    for (let i = 0; i < count; i += 1) {
      this._gain = Math.min(1, this._gain + 1 / this._fade);
      out[i] *= this._gain;
    }
    if (starving) {
      const fade = Math.min(count, this._fade);
      for (let i = 0; i < fade; i += 1) out[count - fade + i] *= 1 - (i + 1) / fade;
      this._gain = 0;
      this._starved = true;
    }
    return count;
  }

  /**
   * Read and fade out the last few milliseconds before sound is held.
   *
   * @param {Float32Array} out
   * @returns {number} Frames read.
   */
  _fadeOut(out) {
    const wanted = Math.min(out.length, Math.ceil(this._gain * this._fade));
    const count = this._ring.read(out.subarray(0, wanted));
    for (let i = 0; i < count; i += 1) {
      this._gain = Math.max(0, this._gain - 1 / this._fade);
      out[i] *= this._gain;
    }
    if (count === 0) this._gain = 0;
    return count;
  }

  /**
   * Attribute the frames read to the items that they belong to.
   *
   * @param {Float32Array} out
   * @param {number} count
   * @param {number} frame
   * @returns {Report[]}
   */
  _account(out, count, frame) {
    /** @type {Report[]} */
    const reports = [];
    let at = 0;
    while (this._items.length > 0) {
      const item = this._items[0];
      const mine = Math.min(count - at, item.received - item.played);
      if (!item.audible) {
        const loud = out.subarray(at, at + mine).findIndex((x) => Math.abs(x) >= AUDIBLE);
        item.audible = loud >= 0;
        if (loud >= 0) reports.push({ type: "audible", id: item.id, frame: frame + at + loud });
      }
      item.played += mine;
      at += mine;
      if (item.played < item.received || !item.ended) break;
      this._items.shift();
      reports.push({ type: "finished", id: item.id, playedMs: item.played * this._msPerFrame });
    }
    if (this._items.length === 0) this._gain = 0;
    reports.push(...this._progress(out.length, count));
    return reports;
  }

  /** @param {number} block @param {number} count @returns {Report[]} */
  _progress(block, count) {
    const item = this._items[0];
    if (!item) return [];
    this._sinceReport += block;
    if (count === 0 || this._sinceReport < this._reportEvery) return [];
    this._sinceReport = 0;
    return [{ type: "played", id: item.id, playedMs: item.played * this._msPerFrame }];
  }

  /** @param {Float32Array} out */
  _mixTail(out) {
    const count = Math.min(out.length, this._tail.length);
    for (let i = 0; i < count; i += 1) out[i] += this._tail[i];
    this._tail = this._tail.subarray(count);
  }
}
