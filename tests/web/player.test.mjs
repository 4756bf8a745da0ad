import assert from "node:assert/strict";
import { test } from "node:test";

import { Player } from "../../web/player.js";

const RATE_HZ = 24000;
const ms = (count) => Math.round((count * RATE_HZ) / 1000);
const loud = (count) => new Float32Array(count).fill(0.5);

/** Plays blocks of 128 until so many frames are out. */
function play(player, frames, from = 0) {
  const sound = [];
  const reports = [];
  for (let at = 0; at < frames; at += 128) {
    const block = new Float32Array(128);
    reports.push(...player.render(block, from + at));
    sound.push(...block);
  }
  return { sound, reports };
}

const largestStep = (sound) => Math.max(...sound.slice(1).map((x, i) => Math.abs(x - sound[i])));
const softStep = 0.5 / ms(5) + 1e-6;

test("plays a whole reply and says when it became audible and when it was over", () => {
  const player = new Player(RATE_HZ);
  const samples = loud(ms(300));
  samples.fill(0, 0, ms(50));
  player.push("a", samples);
  player.end("a");
  const { sound, reports } = play(player, ms(400), 1000);
  assert.equal(sound.filter((x) => x !== 0).length, ms(250));
  const audible = reports.find((report) => report.type === "audible");
  assert.deepEqual(audible, { type: "audible", id: "a", frame: 1000 + ms(50) });
  assert.deepEqual(reports.at(-1), { type: "finished", id: "a", playedMs: 300 });
  assert.equal(player.busy, false);
});

test("silence is not audible", () => {
  const player = new Player(RATE_HZ);
  player.push("a", new Float32Array(ms(100)).fill(0.0005));
  player.end("a");
  const { reports } = play(player, ms(200));
  assert.deepEqual(
    reports.filter((report) => report.type === "audible"),
    [],
  );
});

test("tells the position while it plays, at the pace asked for", () => {
  const player = new Player(RATE_HZ, { reportMs: 100 });
  player.push("a", loud(ms(1000)));
  player.end("a");
  const { reports } = play(player, ms(1000));
  const positions = reports.filter((r) => r.type === "played").map((r) => r.playedMs);
  assert.ok(positions.length >= 8 && positions.length <= 10, `${positions}`);
  assert.deepEqual(
    positions,
    [...positions].sort((x, y) => x - y),
  );
});

test("a flush is silent within the fade, without a click, and tells what was cut", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(2000)));
  const before = play(player, ms(200)).sound;
  const cut = player.flush();
  const { sound } = play(player, ms(100));
  assert.equal(cut.length, 1);
  assert.equal(cut[0].id, "a");
  assert.ok(Math.abs(cut[0].playedMs - (before.length * 1000) / RATE_HZ) < 1e-6);
  assert.ok(sound.slice(ms(5)).every((x) => x === 0));
  assert.ok(largestStep([...before, ...sound]) <= softStep);
});

test("a flush names every reply that waits, and the next one plays from its start", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(500)));
  player.push("b", loud(ms(500)));
  play(player, ms(100));
  assert.deepEqual(
    player.flush().map((item) => [item.id, item.playedMs > 0]),
    [
      ["a", true],
      ["b", false],
    ],
  );
  player.push("c", loud(ms(100)));
  player.end("c");
  const { reports } = play(player, ms(200));
  assert.deepEqual(reports.at(-1), { type: "finished", id: "c", playedMs: 100 });
});

test("a flush with nothing to play does nothing", () => {
  const player = new Player(RATE_HZ);
  assert.deepEqual(player.flush(), []);
  assert.ok(play(player, ms(50)).sound.every((x) => x === 0));
});

test("when audio runs out it fades, waits for some more, and loses no sample", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(200)));
  const first = play(player, ms(400));
  assert.ok(first.sound.slice(ms(200)).every((x) => x === 0));
  player.push("a", loud(ms(30)));
  const waiting = play(player, ms(100)).sound;
  assert.ok(
    waiting.every((x) => x === 0),
    "sounds again before enough has arrived",
  );
  player.push("a", loud(ms(170)));
  const rest = play(player, ms(100));
  player.end("a");
  const last = play(player, ms(300));
  const sound = [...first.sound, ...waiting, ...rest.sound, ...last.sound];
  assert.deepEqual(last.reports.at(-1), { type: "finished", id: "a", playedMs: 400 });
  // The reply itself ends abruptly; up to there nothing may click.
  const end = sound.findLastIndex((x) => x !== 0);
  assert.ok(largestStep(sound.slice(0, end)) <= softStep);
});

test("a short reply that ends while it waits is played", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(3)));
  assert.ok(play(player, ms(50)).sound.every((x) => x === 0));
  player.end("a");
  assert.equal(play(player, ms(50)).sound.filter((x) => x !== 0).length, ms(3));
});

test("replies follow one another without a gap", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(100)));
  player.push("b", loud(ms(100)));
  player.end("b");
  const { sound, reports } = play(player, ms(300));
  assert.equal(sound.findLastIndex((x) => x !== 0) - sound.findIndex((x) => x !== 0) + 1, ms(200));
  assert.deepEqual(
    reports.filter((r) => r.type === "finished").map((r) => r.id),
    ["a", "b"],
  );
});

test("an end of something unknown is nothing", () => {
  const player = new Player(RATE_HZ);
  player.end("nobody");
  assert.equal(player.busy, false);
});

test("holds without a click, keeps its place, and goes on from there", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(600)));
  player.end("a");
  const before = play(player, 128 * 20);
  player.hold(true);
  const held = play(player, 128 * 20);
  player.hold(false);
  const after = play(player, ms(800));
  const sound = [...before.sound, ...held.sound, ...after.sound];
  const end = sound.findLastIndex((x) => x !== 0);
  assert.ok(largestStep(sound.slice(0, end)) <= softStep);
  assert.ok(held.sound.slice(ms(6)).every((x) => x === 0));
  assert.equal(after.reports.at(-1).playedMs, 600);
  assert.equal(player.busy, false);
  const heard = sound.filter((x) => x !== 0).length;
  assert.ok(Math.abs(heard - ms(600)) <= 4, `${heard}`);
});

test("what is flushed while it is held stays away, and the next reply sounds", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(300)));
  play(player, 128 * 10);
  player.hold(true);
  play(player, 128 * 4);
  const [cut] = player.flush();
  assert.ok(cut.playedMs < 70, `${cut.playedMs}`);
  player.push("b", loud(ms(100)));
  player.end("b");
  const { sound } = play(player, ms(200));
  assert.ok(sound.filter((x) => x !== 0).length >= ms(100) - 2);
});

test("a hold that comes when all has been played does not hold the next reply", () => {
  const player = new Player(RATE_HZ);
  player.push("a", loud(ms(50)));
  player.end("a");
  play(player, ms(100));
  player.hold(true);
  player.push("b", loud(ms(50)));
  player.end("b");
  const { reports } = play(player, ms(100));
  assert.deepEqual(reports.at(-1), { type: "finished", id: "b", playedMs: 50 });
});
