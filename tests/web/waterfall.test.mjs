import assert from "node:assert/strict";
import { test } from "node:test";

import { inMs, waterfall } from "../../web/waterfall.js";

const marks = {
  asr_final: 120,
  end_of_turn: 250,
  first_token: 270,
  reply_committed: 300,
  first_audio: 340,
  "tool.set_timer": 4,
};

test("stages follow one another from the end of speech to the ear", () => {
  const { path, totalMs, measured } = waterfall(marks, 395);
  assert.deepEqual(
    path.map(({ kind, startMs, endMs }) => [kind, startMs, endMs]),
    [
      ["wait", 0, 250],
      ["think", 250, 300],
      ["voice", 300, 340],
      ["travel", 340, 395],
    ],
  );
  assert.deepEqual([totalMs, measured], [395, true]);
});

test("overlapping stages are listed apart", () => {
  const { overlapping } = waterfall(marks, 395);
  assert.deepEqual(
    overlapping.map(({ kind, name, startMs, endMs }) => [kind, name, startMs, endMs]),
    [
      ["recognise", "Recognition", 0, 120],
      ["tool", "set_timer", 250, 254],
    ],
  );
});

test("without the page's own measure the server's last mark is the total", () => {
  const { totalMs, measured } = waterfall(marks, null);
  assert.deepEqual([totalMs, measured], [340, false]);
});

test("marks that are missing or out of order leave no gap and no negative stage", () => {
  const { path, totalMs } = waterfall({ end_of_turn: 250, first_audio: 200 }, 400);
  assert.deepEqual(
    path.map(({ kind, startMs, endMs }) => [kind, startMs, endMs]),
    [
      ["wait", 0, 250],
      ["travel", 250, 400],
    ],
  );
  assert.equal(totalMs, 400);
});

test("nothing known shows nothing", () => {
  assert.equal(waterfall({}, null), null);
});

test("long times are told in seconds", () => {
  assert.deepEqual([inMs(412.4), inMs(12345)], ["412 ms", "12.3 s"]);
});
