import assert from "node:assert/strict";
import { test } from "node:test";

import { Timeline } from "../../web/timeline.js";

test("maps positions in what was sent to frames of the audio clock", () => {
  const timeline = new Timeline(48000);
  timeline.sent(480, 10000);
  timeline.sent(480, 10960);
  assert.equal(timeline.frameAt(0), 10000);
  assert.equal(timeline.frameAt(10), 10480);
  assert.equal(timeline.frameAt(20), 10960);
  assert.equal(timeline.frameAt(40), 11920);
});

test("packets that could not be sent leave no error behind", () => {
  const timeline = new Timeline(24000);
  timeline.sent(480, 0);
  timeline.sent(480, 4800);
  assert.equal(timeline.frameAt(25), 4800 + 120);
});

test("what was not sent, or is no position, is unknown", () => {
  const timeline = new Timeline(24000);
  assert.equal(timeline.frameAt(0), null);
  timeline.sent(480, 0);
  assert.equal(timeline.frameAt(21), null);
  assert.equal(timeline.frameAt(-1), null);
  assert.equal(timeline.frameAt(Number.NaN), null);
  assert.equal(timeline.frameAt(undefined), null);
});

test("forgets the oldest, and everything on a new session", () => {
  const timeline = new Timeline(24000, 10);
  for (let i = 0; i < 100; i += 1) timeline.sent(480, i * 480);
  assert.equal(timeline.frameAt(20), null);
  assert.equal(timeline.frameAt(1990), 47760);
  timeline.reset();
  timeline.sent(480, 99);
  assert.equal(timeline.frameAt(0), 99);
});
