import assert from "node:assert/strict";
import { test } from "node:test";

import { momentOf, Recorder, sceneAt } from "../../web/record.js";

const turn = () => ({ moments: [] });
const call = { name: "set_timer", arguments: { duration: "ten minutes" } };
const EVENTS = [
  [300, { type: "quicksilver.transcript", text: "set a timer" }],
  [400, { type: "quicksilver.draft", number: 1, text: "How ░░", calls: [] }],
  [900, { type: "quicksilver.transcript", text: "set a timer for ten minutes", final: true }],
  [950, { type: "quicksilver.draft", number: 2, text: "", calls: [call] }],
  [1000, { type: "input_audio_buffer.speech_stopped" }],
  [1100, { type: "response.created" }],
  [1110, { type: "quicksilver.tool_call", call_id: "c1", ...call }],
  [1120, { type: "quicksilver.tool_result", call_id: "c1", content: "Timer set." }],
  [1130, { type: "quicksilver.denoising", text: "Timer ░░" }],
  [1140, { type: "response.output_audio_transcript.delta", delta: " set." }],
];

/** A turn whose speech began 200 ms before its first event, at 1000 on the page's clock. */
function recorded() {
  const one = turn();
  const recorder = new Recorder();
  recorder.begin(one, 1200, 200);
  for (const [atMs, event] of EVENTS) {
    recorder.note(one, 1000 + atMs, momentOf(event, { text: "Timer set." }));
  }
  recorder.note(one, 2150, { kind: "sound", text: "" });
  return one.moments;
}

test("times count from the beginning of speech", () => {
  const times = recorded().map(({ atMs }) => atMs);
  assert.deepEqual(times, [...EVENTS.map(([atMs]) => atMs), 1150]);
});

test("each moment is as it was then", () => {
  const moments = recorded();
  assert.deepEqual(sceneAt(moments, 0), sceneAt([], 0));
  const early = sceneAt(moments, 500);
  assert.deepEqual(
    [early.words, early.draft?.text, early.phase],
    ["set a timer", "How ░░", "Draft 1"],
  );
  assert.deepEqual(sceneAt(moments, 1050).draft?.calls, [call]);
  const replying = sceneAt(moments, 1115);
  assert.deepEqual([replying.draft, replying.tools], [null, [{ call, result: null }]]);
  assert.equal(sceneAt(moments, 1135).step, "Timer ░░");
  const end = sceneAt(moments, 9999);
  assert.equal(end.step, "");
  assert.deepEqual(
    [end.certain, end.tools[0].result, end.phase],
    ["Timer set.", "Timer set.", "Speaking"],
  );
});

test("what happens at one time is one after the other", () => {
  const one = turn();
  const recorder = new Recorder();
  for (const kind of ["draft", "reply", "step"]) recorder.note(one, 5, { kind, text: "" });
  const times = one.moments.map(({ atMs }) => atMs);
  assert.equal(times[0], 0);
  assert.ok(times[0] < times[1] && times[1] < times[2] && times[2] < 1);
});

test("a draft that was taken back is seen no more", () => {
  const gone = { atMs: 2, kind: "draft", text: "", number: 1, calls: [] };
  assert.equal(sceneAt([{ ...gone, atMs: 1, text: "Hi" }, gone], 5).draft, null);
});

test("what is kept is bounded, by the turn and over all turns", () => {
  const recorder = new Recorder();
  const step = { kind: "step", text: "" };
  // A conversation of a hundred ordinary turns can be watched from its beginning.
  const turns = Array.from({ length: 100 }, turn);
  for (const one of turns) for (let i = 0; i < 50; i += 1) recorder.note(one, i, step);
  assert.equal(turns[0].moments.length, 50);
  const busy = turn();
  for (let i = 0; i < 1000; i += 1) recorder.note(busy, i, step);
  assert.equal(busy.moments.length, 300);
  const more = Array.from({ length: 49 }, turn);
  for (const one of more) for (let i = 0; i < 300; i += 1) recorder.note(one, i, step);
  assert.deepEqual([turns[99], busy].map(({ moments }) => moments.length), [0, 300]);
  const long = momentOf({ type: "quicksilver.denoising", text: "x".repeat(9999) }, undefined);
  assert.equal(long?.text.length, 500);
});

test("nonsense makes no moment, or an empty one", () => {
  assert.equal(momentOf({ type: "error" }, undefined), null);
  assert.equal(momentOf({ type: "quicksilver.denoising", text: "" }, undefined), null);
  assert.deepEqual(momentOf({ type: "quicksilver.draft", text: 5, calls: 7 }, undefined), {
    kind: "draft",
    text: "",
    number: 0,
    calls: [],
  });
});
