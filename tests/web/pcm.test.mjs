import assert from "node:assert/strict";
import { test } from "node:test";

import { decode, encode, toFloat, toInt16 } from "../../web/pcm.js";

test("base64 there and back, for lengths around a slice", () => {
  for (const length of [0, 1, 4095, 4096, 4097, 20000]) {
    const samples = Int16Array.from({ length }, (_, i) => ((i * 7919) % 65536) - 32768);
    assert.deepEqual(decode(encode(samples)), samples);
  }
});

test("little-endian, as the wire wants it", () => {
  assert.equal(encode(Int16Array.from([1, -2])), Buffer.from([1, 0, 254, 255]).toString("base64"));
});

test("an odd byte at the end is left out", () => {
  assert.deepEqual([...decode(Buffer.from([1, 0, 7]).toString("base64"))], [1]);
});

test("text that is not base64 throws", () => {
  assert.throws(() => decode("%%%"));
});

test("clips what is too loud", () => {
  assert.deepEqual(
    [...toInt16(Float32Array.from([0, 1, -1, 3, -3]))],
    [0, 32767, -32767, 32767, -32767],
  );
  assert.deepEqual([...toFloat(Int16Array.from([0, 16384, -32768]))], [0, 0.5, -1]);
});
