import assert from "node:assert/strict";
import { test } from "node:test";

import { heights, pulse } from "../../web/surface.js";

test("silence is a flat line", () => {
  assert.ok(heights(new Float32Array(1024)).every((y) => y === 0));
});

test("sound lifts the middle and leaves the ends where they are", () => {
  const line = heights(new Float32Array(1024).fill(0.25), 33);
  assert.equal(line.length, 33);
  assert.ok(Math.abs(line[16] - 0.5) < 1e-6);
  assert.ok(Math.abs(line[0]) < 1e-6 && Math.abs(line[32]) < 1e-6);
  assert.ok(line.every((y) => Math.abs(y) <= 1));
});

test("the pulse wanders from left to right", () => {
  const peak = (nowMs) => {
    const line = pulse(nowMs, 101);
    return line.indexOf(Math.max(...line));
  };
  assert.ok(peak(500) < peak(900) && peak(900) < peak(1300));
});
