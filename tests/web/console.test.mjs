import assert from "node:assert/strict";
import { test } from "node:test";

import { clock, peaks, timed } from "../../web/console/timeline.js";

test("each heard word lasts from the end of the one before", () => {
  const reply = { text: "Yes, of course.", start_ms: 100, words: [[4, 300], [7, 450]] };
  assert.deepEqual(timed(reply), {
    words: [
      { text: "Yes,", startMs: 100, endMs: 300 },
      { text: " of", startMs: 300, endMs: 450 },
    ],
    rest: " course.",
  });
  assert.deepEqual(timed({ text: "Yes.", start_ms: null, words: [] }), { words: [], rest: "Yes." });
});

test("a piece of a wave is as tall as its loudest sample", () => {
  assert.deepEqual(peaks(new Float32Array([0, 0.5, -1, 0.25, 0, 0]), 3), [0.5, 1, 0]);
  assert.deepEqual(peaks(new Float32Array(0), 2), [0, 0]);
});

test("times are told in minutes and seconds", () => {
  assert.deepEqual([0, 65.9, 3600].map(clock), ["0:00", "1:05", "60:00"]);
});
