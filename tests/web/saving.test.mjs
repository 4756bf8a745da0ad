import assert from "node:assert/strict";
import { test } from "node:test";

import { asJson, asText } from "../../web/saving.js";

const tool = {
  id: "c",
  name: "set_timer",
  arguments: { duration: "ten minutes" },
  result: "Timer set.",
  error: false,
  durationMs: 1,
};
const reply = {
  text: "Set for ten minutes.",
  heard: 7,
  interrupted: false,
  failure: "",
  tools: [],
};
const turn = (words, ...replies) => ({ user: words === null ? null : { text: words }, replies });

test("as text it reads as it was said, and of what was cut off as it was heard", () => {
  const turns = [
    turn(null, { ...reply, text: "Hello. " }),
    turn("set a timer", { ...reply, tools: [tool] }, { ...reply, interrupted: true }),
    turn("", { ...reply, text: "", failure: "The voice is gone." }),
    turn(""),
  ];
  assert.equal(
    asText(turns),
    [
      "Agent: Hello.",
      "",
      "You: set a timer",
      "  [Timer · 10 min: Timer set.]",
      "Agent: Set for ten minutes.",
      "Agent: Set for – (interrupted)",
      "",
      "  (The voice is gone.)",
      "",
    ].join("\n"),
  );
});

test("as JSON all of it is there", () => {
  const turns = [turn("hello", reply)];
  assert.deepEqual(JSON.parse(asJson(turns)), { turns });
});
