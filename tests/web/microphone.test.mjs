import assert from "node:assert/strict";
import { test } from "node:test";

import { explain } from "../../web/microphone.js";

test("tells in words why there is no microphone, and that one can type", () => {
  for (const [name, words] of [
    ["NotAllowedError", /allow/i],
    ["NotFoundError", /no microphone/i],
    ["NotReadableError", /another program/],
    ["OverconstrainedError", /settings/],
  ]) {
    const { message } = explain(new DOMException("why", name));
    assert.match(message, words);
    assert.match(message, /type below/);
  }
});

test("an unknown reason is told as it is", () => {
  assert.match(explain(new TypeError("odd")).message, /TypeError: odd/);
});
