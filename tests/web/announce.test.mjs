import assert from "node:assert/strict";
import { test } from "node:test";

import { announcement } from "../../web/announce.js";

const user = { itemId: "u", text: "set a timer", final: true, typed: false };
const reply = {
  id: "r",
  itemId: "m",
  text: "Done.",
  draft: "",
  heard: 0,
  done: true,
  interrupted: false,
  failure: "",
  tools: [],
};
const tool = {
  id: "c",
  name: "set_timer",
  arguments: {},
  result: "Timer set.",
  error: false,
  durationMs: 1,
};

test("says what was understood, but not what was typed or is unfinished", () => {
  assert.equal(announcement({ user, replies: [] }, true), "You said: set a timer");
  assert.equal(announcement({ user: { ...user, final: false }, replies: [] }, true), "");
  assert.equal(announcement({ user: { ...user, typed: true }, replies: [] }, true), "");
});

test("says what a tool answered", () => {
  assert.equal(
    announcement({ user, replies: [{ ...reply, tools: [tool] }] }, true),
    "Timer: Timer set.",
  );
});

test("reads a reply out only where it is not heard", () => {
  assert.equal(announcement({ user: null, replies: [reply] }, true), "");
  assert.equal(announcement({ user: null, replies: [reply] }, false), "Agent: Done.");
});

test("says why a reply failed", () => {
  assert.equal(
    announcement({ user, replies: [{ ...reply, failure: "The model failed." }] }, true),
    "The model failed.",
  );
});
