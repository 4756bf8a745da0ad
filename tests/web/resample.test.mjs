import assert from "node:assert/strict";
import { test } from "node:test";

import { Resampler } from "../../web/resample.js";

const tone = (hz, rateHz, count) =>
  Float32Array.from({ length: count }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / rateHz));

/** Resamples in blocks of uneven size. */
function resample(samples, fromHz, toHz, sizes = [128]) {
  const resampler = new Resampler(fromHz, toHz);
  const out = [];
  for (let at = 0, i = 0; at < samples.length; i += 1) {
    const size = sizes[i % sizes.length];
    out.push(...resampler.push(samples.subarray(at, at + size)));
    at += size;
  }
  return [...out, ...resampler.flush()];
}

const rms = (values) => Math.sqrt(values.reduce((sum, x) => sum + x * x, 0) / values.length);

for (const [fromHz, toHz] of [
  [48000, 24000],
  [44100, 24000],
  [16000, 24000],
  [24000, 48000],
  [24000, 44100],
  [96000, 24000],
]) {
  test(`${fromHz} to ${toHz} keeps a tone's length, place and shape`, () => {
    const out = resample(tone(440, fromHz, fromHz / 4), fromHz, toHz);
    assert.ok(Math.abs(out.length - toHz / 4) <= 1, `${out.length} samples`);
    const wanted = tone(440, toHz, out.length);
    // The ends see the silence beyond the tone.
    const edge = Math.round(toHz / 500);
    const error = out.map((x, i) => x - wanted[i]).slice(edge, -edge);
    assert.ok(rms(error) < 0.002, `error ${rms(error)}`);
  });
}

test("what the lower rate cannot carry is removed, not folded down", () => {
  const out = resample(tone(15000, 48000, 24000), 48000, 24000).slice(100, -100);
  assert.ok(rms(out) < 0.002, `level ${rms(out)}`);
});

test("the size of blocks makes no difference", () => {
  const samples = tone(700, 44100, 6000);
  assert.deepEqual(
    resample(samples, 44100, 24000, [1, 128, 7, 1000]),
    resample(samples, 44100, 24000, [6000]),
  );
});

test("equal rates pass through in a copy", () => {
  const samples = tone(440, 24000, 100);
  const out = new Resampler(24000, 24000).push(samples);
  assert.deepEqual(out, samples);
  assert.notEqual(out.buffer, samples.buffer);
});

test("after a flush it begins anew", () => {
  const resampler = new Resampler(48000, 24000);
  const samples = tone(300, 48000, 960);
  const first = [...resampler.push(samples), ...resampler.flush()];
  const second = [...resampler.push(samples), ...resampler.flush()];
  assert.deepEqual(first, second);
});

test("refuses rates that make no sense", () => {
  assert.throws(() => new Resampler(0, 24000), /got rates 0/);
  assert.throws(() => new Resampler(48000, 22050.5), /22050.5/);
});
