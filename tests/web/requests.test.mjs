import assert from "node:assert/strict";
import { test } from "node:test";

import { configuration, history, userMessage } from "../../web/requests.js";

const reply = (text, heard) => ({
  id: "r",
  itemId: "m",
  text,
  heard,
  draft: "",
  done: true,
  interrupted: false,
  failure: "",
  tools: [],
});
const turn = (words, ...replies) => ({
  id: 1,
  user: words === null ? null : { itemId: "u1", text: words, final: true, typed: false },
  replies,
  marksMs: {},
  voiceToVoiceMs: null,
});

test("asks for sound at 24 kHz both ways and for all extension events", () => {
  const { type, session } = configuration(true, true);
  assert.equal(type, "session.update");
  assert.deepEqual(session.output_modalities, ["audio"]);
  assert.deepEqual(session.audio.input.format, { type: "audio/pcm", rate: 24000 });
  assert.deepEqual(session.audio.output.format, { type: "audio/pcm", rate: 24000 });
  assert.deepEqual(session.quicksilver.events.toSorted(), [
    "denoising",
    "draft",
    "flow",
    "heard",
    "hold",
    "latency",
    "state",
    "tools",
    "transcript",
  ]);
  assert.equal(session.quicksilver.greet, true);
  const written = configuration(false, false).session;
  assert.deepEqual(written.output_modalities, ["text"]);
  assert.equal(written.quicksilver.greet, false);
  assert.equal(session.audio.output.voice, undefined);
  assert.equal(configuration(true, true, "hibari:heart").session.audio.output.voice, "hibari:heart");
});

test("a typed message is a user's item", () => {
  assert.deepEqual(userMessage("t1", "hello").item, {
    id: "t1",
    type: "message",
    role: "user",
    content: [{ type: "input_text", text: "hello" }],
  });
});

test("a new connection is told what was said and heard, and nothing else", () => {
  const events = history([
    turn(null, reply("Hello there.", 12)),
    turn("set a timer", reply("Timer set for ten minutes.", 9)),
    turn("unheard", reply("Nobody heard this.", 0)),
    turn("unanswered"),
  ]);
  assert.deepEqual(
    events.map(({ item }) => [item.role, item.content[0].type, item.content[0].text]),
    [
      ["assistant", "output_text", "Hello there."],
      ["user", "input_text", "set a timer"],
      ["assistant", "output_text", "Timer set"],
    ],
  );
});

test("only the last turns are told", () => {
  const turns = Array.from({ length: 40 }, (_, i) => turn(`say ${i}`, reply(`${i}`, 2)));
  const events = history(turns);
  assert.equal(events.length, 24);
  assert.equal(events[0].item.content[0].text, "say 28");
});
