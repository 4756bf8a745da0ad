import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { Memory } from "../../web/memory.js";

/** What the browser offers in place of a storage. */
function offer(get) {
  Object.defineProperty(globalThis, "localStorage", { get, configurable: true });
}

afterEach(() => delete globalThis.localStorage);

test("what is set is kept by the browser and found again", () => {
  const kept = new Map();
  offer(() => ({
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
  }));
  assert.equal(new Memory("device").get("microphone"), "");
  new Memory("device").set("microphone", "m1");
  assert.equal(new Memory("device").get("microphone"), "m1");
});

test("where the browser forbids it, it is known until the page is left", () => {
  offer(() => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  });
  const memory = new Memory("device");
  assert.equal(memory.get("microphone"), "");
  memory.set("microphone", "m1");
  assert.equal(memory.get("microphone"), "m1");
});
