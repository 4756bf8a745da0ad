import assert from "node:assert/strict";
import { test } from "node:test";

import { portions } from "../../web/transcript.js";

test("a reply is shown in what was heard, what was not, and what is still a draft", () => {
  assert.deepEqual(portions({ text: "Timer set.", heard: 6, draft: "" }), {
    heard: "Timer ",
    unheard: "set.",
    draft: "",
  });
  assert.deepEqual(portions({ text: "", heard: 0, draft: "Timer ░░" }), {
    heard: "",
    unheard: "",
    draft: "Timer ░░",
  });
});

test("of a draft only what follows the committed text is shown", () => {
  assert.deepEqual(portions({ text: "Sure. ", heard: 0, draft: "Sure. The ░░" }).draft, " The ░░");
});

test("a draft that no longer agrees with what was committed is not shown", () => {
  assert.equal(portions({ text: "Sure.", heard: 0, draft: "Well, ░" }).draft, "");
});
