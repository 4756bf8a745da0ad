import assert from "node:assert/strict";
import { test } from "node:test";

import { inPlainWords } from "../../web/plain-words.js";

const CASES = [
  ["set_timer", { duration: "ten minutes" }, "Timer · 10 min"],
  [
    "set_timer",
    { duration: "an hour and twenty five minutes", name: "" },
    "Timer · 1 h and 25 min",
  ],
  ["set_timer", { duration: "twenty minutes", name: "pasta" }, "Timer · 20 min · pasta"],
  ["set_timer", { duration: "90 minutes" }, "Timer · 90 minutes"],
  ["set_alarm", { time: "half past ten" }, "Alarm · half past ten"],
  [
    "order_drink",
    { drink: "latte", size: "large", milk: "oat milk" },
    "Order: large latte with oat milk",
  ],
  [
    "order_drink",
    {
      drink: "iced mochas",
      size: "small",
      shots: "an extra shot",
      extras: "cream",
      quantity: "two",
    },
    "Order: two small iced mochas with an extra shot and cream",
  ],
  ["set_device", { device: "kitchen light", state: "on" }, "Kitchen light · on"],
  ["cancel_timer", {}, "Cancel timer"],
  ["get_time", {}, "Time"],
  ["calculate", { expression: "twelve times seven" }, "Calculate · twelve times seven"],
  ["weather.lookup", { days: [1, 2], where: { lat: 1 } }, 'Weather lookup · 1, 2 · {"lat":1}'],
  ["", { a: null, b: undefined }, ""],
];

for (const [name, given, words] of CASES) {
  test(`${name} ${JSON.stringify(given)}`, () => assert.equal(inPlainWords(name, given), words));
}

test("a long value is cut", () => {
  assert.equal(inPlainWords("note", { text: "x".repeat(500) }).length, "Note · ".length + 80);
});
