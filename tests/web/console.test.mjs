import assert from "node:assert/strict";
import { test } from "node:test";

import { utc } from "../../web/console/lists.js";
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

test("words are counted in the server's characters, of which an emoji is one", () => {
  const reply = { text: "🍎 and 🍐 it is.", start_ms: 0, words: [[1, 100], [7, 300]] };
  const { words, rest } = timed(reply);
  assert.deepEqual([...words.map(({ text }) => text), rest], ["🍎", " and 🍐", " it is."]);
});

test("a day that is searched for is the operator's own", () => {
  process.env.TZ = "Europe/Berlin";
  assert.equal(utc("2026-03-01", "00:00:00"), "2026-02-28T23:00:00");
  assert.equal(utc("2026-07-01", "23:59:59"), "2026-07-01T21:59:59");
  assert.equal(utc("", "00:00:00"), "");
});

test("a piece of a wave is as tall as its loudest sample", () => {
  assert.deepEqual(peaks(new Float32Array([0, 0.5, -1, 0.25, 0, 0]), 3), [0.5, 1, 0]);
  assert.deepEqual(peaks(new Float32Array(0), 2), [0, 0]);
});

test("times are told in minutes and seconds", () => {
  assert.deepEqual([0, 65.9, 3600].map(clock), ["0:00", "1:05", "60:00"]);
});
