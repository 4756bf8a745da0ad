import assert from "node:assert/strict";
import { test } from "node:test";

import { Conversation } from "../../web/conversation.js";
import { apply } from "../../web/server-events.js";

/** A conversation to which events have happened. */
function after(...events) {
  const errors = [];
  const shown = [];
  const conversation = new Conversation({
    onTurn: (turn) => shown.push(turn.id),
    onError: (message) => errors.push(message),
  });
  for (const event of events) apply(conversation, event);
  return {
    conversation,
    errors,
    shown,
    turn: conversation.turns.at(-1),
    reply: conversation.turns.at(-1)?.replies.at(-1),
  };
}

const spoke = [
  { type: "input_audio_buffer.speech_started", item_id: "u1", audio_start_ms: 100 },
  { type: "quicksilver.transcript", item_id: "u1", text: "set a" },
  { type: "input_audio_buffer.speech_stopped", item_id: "u1", audio_end_ms: 900 },
  {
    type: "conversation.item.input_audio_transcription.completed",
    item_id: "u1",
    transcript: "set a timer",
  },
];
const answering = [
  ...spoke,
  { type: "response.created", response: { id: "r1" } },
  {
    type: "quicksilver.tool_call",
    response_id: "r1",
    call_id: "c1",
    name: "set_timer",
    arguments: { duration: "ten minutes" },
  },
  {
    type: "quicksilver.tool_result",
    response_id: "r1",
    call_id: "c1",
    content: "Timer set.",
    error: false,
    duration_ms: 2.5,
  },
  { type: "response.output_item.added", response_id: "r1", item: { id: "m1", type: "message" } },
  { type: "response.output_audio_transcript.delta", response_id: "r1", delta: "Timer set " },
  { type: "response.output_audio_transcript.delta", response_id: "r1", delta: "for ten minutes." },
];
const done = { type: "response.done", response: { id: "r1", status: "completed" } };

test("interim words give way to the final ones", () => {
  assert.deepEqual(after(...spoke.slice(0, 2)).turn.user, {
    itemId: "u1",
    text: "set a",
    final: false,
    typed: false,
  });
  const { turn } = after(...spoke, { type: "quicksilver.transcript", item_id: "u1", text: "late" });
  assert.deepEqual([turn.user.text, turn.user.final], ["set a timer", true]);
});

test("goes from listening over hearing and thinking to speaking and back", () => {
  const { conversation } = after();
  const seen = [conversation.activity];
  for (const event of answering) {
    apply(conversation, event);
    seen.push(conversation.activity);
  }
  conversation.playing = true;
  seen.push(conversation.activity);
  apply(conversation, done);
  conversation.playing = false;
  seen.push(conversation.activity);
  assert.deepEqual(
    seen.filter((x, i) => x !== seen[i - 1]),
    ["listening", "hearing", "thinking", "speaking", "listening"],
  );
});

test("the user's voice comes before the agent's", () => {
  const { conversation } = after(...answering);
  conversation.playing = true;
  apply(conversation, { type: "input_audio_buffer.speech_started", item_id: "u2" });
  assert.equal(conversation.activity, "hearing");
  assert.equal(conversation.turns.length, 2);
});

test("nothing understood and nothing answered ends in listening", () => {
  const { conversation } = after(...spoke.slice(0, 3), {
    type: "quicksilver.transcript",
    item_id: "u1",
    text: "",
    final: true,
  });
  assert.equal(conversation.activity, "listening");
});

test("a reply has its tools, its text and what was heard of it", () => {
  const { reply } = after(
    ...answering,
    { type: "quicksilver.heard", response_id: "r1", chars: 9 },
    { type: "quicksilver.heard", response_id: "r1", chars: 5 },
  );
  assert.equal(reply.text, "Timer set for ten minutes.");
  assert.equal(reply.heard, 9);
  assert.deepEqual(reply.tools, [
    {
      id: "c1",
      name: "set_timer",
      arguments: { duration: "ten minutes" },
      result: "Timer set.",
      error: false,
      durationMs: 2.5,
    },
  ]);
});

test("what was heard is counted in the server's characters, of which an emoji is one", () => {
  const { reply } = after(
    { type: "response.created", response: { id: "r1" } },
    { type: "response.output_audio_transcript.delta", response_id: "r1", delta: "🍎 and 🍐." },
    { type: "quicksilver.heard", response_id: "r1", chars: 7 },
  );
  assert.equal(reply.text.slice(0, reply.heard), "🍎 and 🍐");
});

test("what has all been played has all been heard; what was cut off has not", () => {
  const { conversation, reply } = after(...answering, done);
  conversation.finished("m1");
  assert.equal(reply.heard, reply.text.length);
  const cut = after(...answering, done);
  cut.conversation.interrupted("m1");
  assert.deepEqual([cut.reply.heard, cut.reply.interrupted], [0, true]);
});

test("of a reply that broke off with the connection, what came is not all of it", () => {
  const { conversation, reply } = after(...answering);
  conversation.settle();
  conversation.finished("m1");
  assert.deepEqual([reply.heard, reply.interrupted], [0, true]);
});

test("a reply is followed to its end however much is said meanwhile", () => {
  const { conversation } = after(...answering.slice(0, 5));
  for (let i = 2; i < 8; i += 1) {
    apply(conversation, { type: "input_audio_buffer.speech_started", item_id: `u${i}` });
  }
  for (const event of [...answering.slice(5), done]) apply(conversation, event);
  const [reply] = conversation.turns[0].replies;
  assert.deepEqual(
    [reply.tools[0].name, reply.text, reply.done],
    ["set_timer", "Timer set for ten minutes.", true],
  );
});

test("a written reply is heard as it comes", () => {
  const { reply } = after(
    { type: "response.created", response: { id: "r1" } },
    { type: "response.output_text.delta", response_id: "r1", delta: "Hello." },
  );
  assert.deepEqual([reply.text, reply.heard], ["Hello.", 6]);
});

const call = { name: "set_timer", arguments: { duration: "ten minutes" } };
const drafted = { type: "quicksilver.draft", number: 2, text: "Timer ░", calls: [call] };

test("what is drafted while the user speaks is kept for its reply until that is done", () => {
  const { conversation, turn } = after(...spoke.slice(0, 2), drafted);
  const shown = { number: 2, text: "Timer ░", calls: [call] };
  assert.deepEqual(turn.ghost, shown);
  for (const event of answering.slice(2)) apply(conversation, event);
  apply(conversation, { ...drafted, number: 3 });
  assert.deepEqual(turn.ghost, shown);
  apply(conversation, done);
  assert.equal(turn.ghost, null);
});

test("a draft that is dropped, not understood or cut off is gone", () => {
  const dropped = { ...drafted, text: "", calls: [] };
  const empty = { type: "quicksilver.transcript", item_id: "u1", text: "", final: true };
  for (const event of [dropped, empty]) {
    assert.equal(after(...spoke.slice(0, 2), drafted, event).turn.ghost, null);
  }
  const { conversation, turn } = after(...spoke.slice(0, 2), drafted);
  conversation.settle();
  assert.equal(turn.ghost, null);
});

test("nobody drafts an answer to what was typed or to nothing", () => {
  const { conversation } = after(drafted);
  conversation.typed("hello", "t1");
  apply(conversation, drafted);
  assert.equal(conversation.turns[0].ghost, null);
});

test("a draft is replaced by the next and gone with the reply", () => {
  const { conversation, reply } = after(
    ...answering.slice(0, 8),
    { type: "quicksilver.denoising", response_id: "r1", text: "Timer ░░░", step: 1 },
    { type: "quicksilver.denoising", response_id: "r1", text: "Timer set ░", step: 2 },
  );
  assert.equal(reply.draft, "Timer set ░");
  apply(conversation, done);
  // Sound outlasts its making: what is left to show of that is shown meanwhile.
  assert.equal(reply.draft, "Timer set ░");
  conversation.interrupted("m1");
  assert.equal(reply.draft, "");
  apply(conversation, { type: "quicksilver.denoising", response_id: "r1", text: "late", step: 3 });
  assert.equal(reply.draft, "");
});

test("a greeting and an announcement need nobody to have spoken", () => {
  const { conversation, turn } = after(
    { type: "response.created", response: { id: "r0" } },
    { type: "response.done", response: { id: "r0", status: "completed" } },
    { type: "response.created", response: { id: "r1" } },
  );
  assert.equal(conversation.turns.length, 1);
  assert.equal(turn.user, null);
  assert.equal(turn.replies.length, 2);
});

test("times belong to the turn that was answered last, even when the next has begun", () => {
  const { conversation } = after(
    ...answering,
    done,
    { type: "input_audio_buffer.speech_started", item_id: "u2" },
    {
      type: "quicksilver.latency",
      turn_id: 1,
      marks_ms: { end_of_turn: 300, first_audio: 350, odd: null },
    },
  );
  assert.deepEqual(conversation.turns[0].marksMs, { end_of_turn: 300, first_audio: 350 });
  assert.deepEqual(conversation.turns[1].marksMs, {});
});

test("a failed reply says why", () => {
  const status_details = { type: "failed", error: { message: "The voice is gone." } };
  const { reply, conversation } = after(...answering, {
    type: "response.done",
    response: { id: "r1", status: "failed", status_details },
  });
  assert.equal(reply.failure, "The voice is gone.");
  assert.equal(conversation.activity, "listening");
});

test("a typed message is a turn of its own", () => {
  const { conversation } = after();
  const turn = conversation.typed("what time is it", "t1");
  assert.equal(conversation.activity, "thinking");
  for (const event of answering.slice(4)) apply(conversation, event);
  assert.equal(conversation.turnOf("m1"), turn);
  assert.equal(conversation.turnOf("unknown"), null);
});

test("the end of a reply that a typed message cut off does not end the wait for the next", () => {
  const { conversation } = after(...answering);
  conversation.typed("what time is it", "t2");
  apply(conversation, { type: "response.done", response: { id: "r1", status: "cancelled" } });
  assert.equal(conversation.activity, "thinking");
  assert.equal(conversation.turns[0].replies[0].interrupted, true);
});

test("when the connection goes, nothing stays under way", () => {
  const { conversation, turn, reply } = after(...spoke.slice(0, 2));
  conversation.settle();
  assert.deepEqual([conversation.activity, turn.user.final, reply], ["listening", true, undefined]);
  const second = after(...answering);
  second.conversation.settle();
  assert.deepEqual(
    [second.conversation.activity, second.reply.done, second.reply.interrupted],
    ["listening", true, true],
  );
});

test("errors are passed on", () => {
  assert.deepEqual(after({ type: "error", error: { message: "no" } }, { type: "error" }).errors, [
    "no",
    "",
  ]);
});

test("that a reply to be stopped is over already is no error to the user", () => {
  const error = { code: "response_cancel_not_active", message: "no reply is in progress" };
  assert.deepEqual(after({ type: "error", error }).errors, []);
});

test("no event, however deformed, throws or invents anything", () => {
  const types = [
    ...new Set([...answering, done].map((event) => event.type)),
    "quicksilver.denoising",
    "quicksilver.draft",
    "quicksilver.heard",
    "quicksilver.latency",
    "quicksilver.state",
    "response.output_text.delta",
    "response.output_audio_transcript.done",
    "conversation.item.input_audio_transcription.failed",
    "toString",
    "unknown",
  ];
  for (const value of [undefined, null, 5, "x", [], {}, { id: 7 }]) {
    const fields = [
      "item_id",
      "response_id",
      "call_id",
      "response",
      "item",
      "delta",
      "text",
      "transcript",
      "arguments",
      "chars",
      "marks_ms",
      "error",
      "content",
      "calls",
      "number",
      "name",
      "duration_ms",
      "state",
    ];
    const junk = Object.fromEntries(fields.map((field) => [field, value]));
    const { conversation } = after(...answering);
    for (const type of types) apply(conversation, { ...junk, type });
    for (const type of types)
      apply(conversation, { ...junk, type, response_id: "r1", item_id: "u1" });
    const [reply] = conversation.turns[0].replies;
    assert.equal(typeof reply.text, "string");
    assert.equal(typeof reply.heard, "number");
    assert.equal(typeof conversation.turns[0].user.text, "string");
  }
});

test("where the conversation stands is a line of the newest turn", () => {
  const flow = {
    type: "quicksilver.flow",
    agent: "clinic",
    step: "booking",
    reason: "",
    known: { problem: "a cough" },
    missing: ["day"],
  };
  assert.equal(after(flow).turn, undefined);
  assert.equal(after(...spoke, flow).turn.flow, "clinic › booking · problem: a cough");
  assert.equal(after(...spoke, flow, { ...flow, agent: 7, known: null }).turn.flow, "booking");
});
