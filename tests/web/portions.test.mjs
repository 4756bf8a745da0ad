import assert from "node:assert/strict";
import { test } from "node:test";

import { overtaken, portions } from "../../web/portions.js";

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

test("of a draft only what is not certain yet is shown as one", () => {
  assert.deepEqual(portions({ text: "Sure. ", heard: 2, draft: "Sure. The ░░" }), {
    heard: "Su",
    unheard: "re. ",
    draft: "The ░░",
  });
});

test("an earlier step stands in the place of what is certain by now", () => {
  assert.deepEqual(
    portions({ text: "Sure. The light is on.", heard: 2, draft: "Sure. ░░ is ░░" }),
    {
      heard: "Su",
      unheard: "re. ",
      draft: "░░ is ░░",
    },
  );
});

test("a step that the heard words have overtaken is not shown", () => {
  const reply = { text: "Sure. The light is on.", heard: 9, draft: "Sure. ░░ is ░░" };
  assert.equal(overtaken(reply, reply.draft), true);
  assert.equal(overtaken(reply, "Sure. The ░"), false);
  assert.deepEqual(portions(reply), { heard: "Sure. The", unheard: " light is on.", draft: "" });
});

test("a draft of words that are all certain hides none of those behind it", () => {
  assert.equal(portions({ text: "Sure. On.", heard: 0, draft: "Sure." }).unheard, "Sure. On.");
});
