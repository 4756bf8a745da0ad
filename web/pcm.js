// @ts-check
/** Converts between the Realtime API's audio (16-bit little-endian PCM, base64) and floats. */

/** The Realtime API's only rate for `audio/pcm`. */
export const WIRE_HZ = 24000;

/**
 * @param {Float32Array} samples In [-1, 1]; what lies outside is clipped.
 * @returns {Int16Array}
 */
export function toInt16(samples) {
  const out = new Int16Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) {
    out[i] = Math.round(Math.max(-1, Math.min(1, samples[i])) * 32767);
  }
  return out;
}

/**
 * @param {Int16Array} samples
 * @returns {Float32Array} In [-1, 1).
 */
export function toFloat(samples) {
  const out = new Float32Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) out[i] = samples[i] / 32768;
  return out;
}

/**
 * @param {Int16Array} samples
 * @returns {string}
 */
export function encode(samples) {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < samples.length; i += 1) view.setInt16(i * 2, samples[i], true);
  let text = "";
  // In slices, since an argument list as long as a whole reply would overflow the stack.
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return btoa(text);
}

/**
 * @param {string} text
 * @returns {Int16Array} A stray odd byte at the end is left out.
 * @throws {DOMException} The text is not base64.
 */
export function decode(text) {
  const bytes = atob(text);
  const out = new Int16Array(bytes.length >> 1);
  for (let i = 0; i < out.length; i += 1) {
    out[i] = bytes.charCodeAt(2 * i) | (bytes.charCodeAt(2 * i + 1) << 8);
  }
  return out;
}
