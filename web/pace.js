// @ts-check
/** Shows steps that arrive in a burst one by one, each long enough to be seen. */

/** @template T */
export class Pace {
  /**
   * @param {(step: T) => void} show
   * @param {{stepMs?: number, most?: number, now?: () => number,
   *   later?: (run: () => void, ms: number) => any}} [options] At most `most` steps wait; older
   *   ones are dropped.
   */
  constructor(show, { stepMs = 60, most = 24, now, later } = {}) {
    this._show = show;
    this._stepMs = stepMs;
    this._most = most;
    this._now = now ?? (() => performance.now());
    this._later = later ?? ((run, ms) => setTimeout(run, ms));
    /** @type {T[]} */
    this._waiting = [];
    this._scheduled = false;
    this._shownAt = -Infinity;
  }

  /** @param {T} step Shown at once unless another has just been. */
  add(step) {
    this._waiting.push(step);
    if (this._waiting.length > this._most) this._waiting.shift();
    this._advance();
  }

  /** @param {(step: T) => boolean} [match] Which waiting steps to drop; all, if left out. */
  drop(match = () => true) {
    this._waiting = this._waiting.filter((step) => !match(step));
  }

  _advance() {
    if (this._scheduled || this._waiting.length === 0) return;
    const waitMs = this._shownAt + this._stepMs - this._now();
    if (waitMs <= 0) {
      this._shownAt = this._now();
      this._show(/** @type {T} */ (this._waiting.shift()));
      this._advance();
      return;
    }
    this._scheduled = true;
    this._later(() => {
      this._scheduled = false;
      this._advance();
    }, waitMs);
  }
}
