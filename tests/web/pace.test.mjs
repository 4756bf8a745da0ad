import assert from "node:assert/strict";
import { test } from "node:test";

import { Pace } from "../../web/pace.js";

/** A pace on a clock of the test's own. */
function paced(most = 24) {
  let nowMs = 0;
  const due = [];
  const shown = [];
  const pace = new Pace((step) => shown.push([step, nowMs]), {
    most,
    now: () => nowMs,
    later: (run, ms) => due.push({ run, atMs: nowMs + ms }),
  });
  const pass = (ms) => {
    const endMs = nowMs + ms;
    while (due[0]?.atMs <= endMs) {
      const { run, atMs } = due.shift();
      nowMs = atMs;
      run();
    }
    nowMs = endMs;
  };
  return { pace, shown, pass };
}

test("the first is shown at once, and each long enough", () => {
  const { pace, shown, pass } = paced();
  for (const step of ["a", "b", "c"]) pace.add(step);
  pass(100);
  pace.add("d");
  pass(500);
  pace.add("e");
  assert.deepEqual(shown, [
    ["a", 0],
    ["b", 60],
    ["c", 120],
    ["d", 180],
    ["e", 600],
  ]);
});

test("what has been overtaken is not shown, and takes no time", () => {
  const { pace, shown, pass } = paced();
  for (const step of [1, 2, 3, 4]) pace.add(step);
  pace.drop((step) => step < 4);
  pass(200);
  assert.deepEqual(shown, [
    [1, 0],
    [4, 60],
  ]);
  pace.add(5);
  pace.drop();
  pass(200);
  assert.equal(shown.length, 3);
});

test("of a flood the newest are shown", () => {
  const { pace, shown, pass } = paced(3);
  for (let step = 0; step < 100; step += 1) pace.add(step);
  pass(1000);
  assert.deepEqual(
    shown.map(([step]) => step),
    [0, 97, 98, 99],
  );
});
