import assert from "node:assert/strict";
import { test } from "node:test";

import { Ring } from "../../web/ring.js";

const ramp = (from, count) => Float32Array.from({ length: count }, (_, i) => from + i);

/** Takes everything out of a ring. */
function drain(ring) {
  const out = new Float32Array(ring.length);
  ring.read(out);
  return [...out];
}

test("gives back what was put in, in order, over the seam", () => {
  const ring = new Ring(5);
  const out = new Float32Array(3);
  ring.push(ramp(0, 4));
  assert.equal(ring.read(out), 3);
  assert.deepEqual([...out], [0, 1, 2]);
  assert.equal(ring.push(ramp(4, 4)), 4);
  assert.deepEqual(drain(ring), [3, 4, 5, 6, 7]);
});

test("reads no more than it has, and leaves the rest of the output alone", () => {
  const ring = new Ring(4);
  ring.push(ramp(1, 2));
  const out = Float32Array.from([9, 9, 9]);
  assert.equal(ring.read(out), 2);
  assert.deepEqual([...out], [1, 2, 9]);
  assert.equal(ring.read(out), 0);
});

test("reads at most the count asked for", () => {
  const ring = new Ring(8);
  ring.push(ramp(0, 6));
  const out = new Float32Array(8);
  assert.equal(ring.read(out, 2), 2);
  assert.equal(ring.length, 4);
});

test("grows to its limit with the order kept, then drops the newest", () => {
  const ring = new Ring(4, 10);
  ring.push(ramp(0, 4));
  ring.read(new Float32Array(3));
  assert.equal(ring.push(ramp(4, 5)), 5);
  assert.equal(ring.capacity, 8);
  assert.equal(ring.push(ramp(9, 9)), 4);
  assert.equal(ring.capacity, 10);
  assert.deepEqual(drain(ring), [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
});

test("is empty after clear and works on", () => {
  const ring = new Ring(4);
  ring.push(ramp(0, 3));
  ring.clear();
  assert.equal(ring.length, 0);
  ring.push(ramp(7, 4));
  assert.deepEqual(drain(ring), [7, 8, 9, 10]);
});

test("agrees with a plain list over many random steps", () => {
  const ring = new Ring(3, 50);
  const list = [];
  let seed = 7;
  let next = 0;
  const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
  for (let step = 0; step < 2000; step += 1) {
    if (random(2) === 0) {
      const samples = ramp(next, random(20));
      const kept = ring.push(samples);
      assert.equal(kept, Math.min(samples.length, 50 - list.length));
      list.push(...samples.subarray(0, kept));
      next += samples.length;
    } else {
      const out = new Float32Array(random(20));
      const count = ring.read(out);
      assert.deepEqual([...out.subarray(0, count)], list.splice(0, out.length));
    }
    assert.equal(ring.length, list.length);
  }
});

test("refuses a capacity that makes no sense", () => {
  assert.throws(() => new Ring(0), /got capacity 0/);
  assert.throws(() => new Ring(8, 4), /limit 4/);
});
