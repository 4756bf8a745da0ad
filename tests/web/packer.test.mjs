import assert from "node:assert/strict";
import { test } from "node:test";

import { Packer } from "../../web/packer.js";

/** Feeds blocks of 128 and collects the packets. */
function pack(rateHz, samples, firstFrame) {
  const packer = new Packer(rateHz);
  const packets = [];
  for (let at = 0; at < samples.length; at += 128) {
    packets.push(...packer.push(samples.subarray(at, at + 128), firstFrame + at));
  }
  return packets;
}

for (const rateHz of [24000, 44100, 48000]) {
  test(`packets of 20 ms from ${rateHz} Hz carry the frame they were heard at`, () => {
    const firstFrame = 12800;
    const samples = new Float32Array(rateHz);
    const click = Math.round(rateHz * 0.5);
    samples[click] = 1;
    const packets = pack(rateHz, samples, firstFrame);
    assert.ok(packets.length >= 49, `${packets.length} packets`);
    assert.ok(packets.every((packet) => packet.samples.length === 480));

    const loudest = packets.map((packet) => Math.max(...packet.samples.map(Math.abs)));
    const index = loudest.indexOf(Math.max(...loudest));
    const within = packets[index].samples.findIndex((x) => Math.abs(x) === loudest[index]);
    const frame = packets[index].frame + (within * rateHz) / 24000;
    assert.ok(
      Math.abs(frame - firstFrame - click) < 2,
      `click at ${frame - firstFrame}, was at ${click}`,
    );
  });
}
