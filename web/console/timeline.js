// @ts-check
/** Pure functions on the times of words and sound in a conversation. */

/** @typedef {{text: string, startMs: number, endMs: number}} Word */

/** @typedef {{text: string, start_ms: number | null, words: [number, number][]}} Said */

/**
 * The words of a message, or the heard words of a reply; each begins where the one before ends.
 *
 * @param {Said} said
 * @returns {{words: Word[], rest: string}} `rest` is the end of the text, for which there are no
 *   times.
 */
export function timed({ text, start_ms: startMs, words }) {
  // The server counts characters, and strings here count an emoji as two.
  const chars = [...text];
  let char = 0;
  let ms = startMs ?? 0;
  const found = words.map(([endChar, endMs]) => {
    const word = { text: chars.slice(char, endChar).join(""), startMs: Math.min(ms, endMs), endMs };
    char = endChar;
    ms = endMs;
    return word;
  });
  return { words: found, rest: chars.slice(char).join("") };
}

/**
 * How loud a sound is in each of many pieces.
 *
 * @param {Float32Array} samples In [-1, 1].
 * @param {number} pieces
 * @returns {number[]} The largest magnitude of each, in [0, 1].
 */
export function peaks(samples, pieces) {
  const span = samples.length / pieces;
  return Array.from({ length: pieces }, (_, i) => {
    let peak = 0;
    const end = Math.floor((i + 1) * span);
    for (let at = Math.floor(i * span); at < end; at += 1) {
      peak = Math.max(peak, Math.abs(samples[at]));
    }
    return peak;
  });
}

/** @param {number} seconds @returns {string} Such as "1:05". */
export function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
