// Run by test_agents_js_client.py beside a node_modules that holds @openai/agents-realtime alone:
//   node agents_client.mjs URL TIMER_PCM TIME_PCM
// The files hold spoken requests as 24 kHz 16-bit PCM. It prints one JSON object: what happened, for
// the test to judge. Nothing in it knows this project.

import { readFileSync } from "node:fs";
import {
  OpenAIRealtimeWebSocket,
  RealtimeAgent,
  RealtimeSession,
  tool,
} from "@openai/agents-realtime";
import { z } from "zod";

const RATE_HZ = 24_000;
const PACKET_BYTES = (RATE_HZ / 50) * 2;
const [url, ...files] = process.argv.slice(2);
const [timer, time] = files.map((file) => readFileSync(file));

const calls = [];
const seen = { audio: 0, interrupted: 0, errors: [], stopped: 0, bytes: 0 };
const waiting = [];

function check() {
  for (const entry of [...waiting]) {
    if (entry.holds()) {
      waiting.splice(waiting.indexOf(entry), 1);
      entry.resolve();
    }
  }
}

function until(what, holds) {
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`waited too long for ${what}`)), 180_000).unref();
    waiting.push({ holds, resolve });
    check();
  });
}

const setTimer = tool({
  name: "set_timer",
  description: "Start a countdown timer.",
  parameters: z.object({ duration: z.string() }),
  execute: async ({ duration }) => {
    calls.push({ duration });
    return "Timer set for 10 minutes.";
  },
});

const agent = new RealtimeAgent({
  name: "test",
  instructions: "Use the tools. Be brief.",
  tools: [setTimer],
});
const transport = new OpenAIRealtimeWebSocket({ url });
const session = new RealtimeSession(agent, { transport });

session.on("audio", (event) => {
  seen.audio += 1;
  seen.bytes += event.data.byteLength;
  check();
});
session.on("audio_stopped", () => {
  seen.stopped += 1;
  check();
});
session.on("audio_interrupted", () => {
  seen.interrupted += 1;
  check();
});
session.on("error", (event) => seen.errors.push(JSON.stringify(event)));

/** A recording in real time, with silence around it. */
async function say(pcm) {
  const speech = Buffer.concat([Buffer.alloc(RATE_HZ / 2), pcm, Buffer.alloc(RATE_HZ * 3)]);
  const start = performance.now();
  for (let at = 0, count = 1; at < speech.length; at += PACKET_BYTES, count += 1) {
    const packet = speech.subarray(at, at + PACKET_BYTES);
    session.sendAudio(packet.buffer.slice(packet.byteOffset, packet.byteOffset + packet.length));
    const wait = start + count * 20 - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait)));
  }
}

await session.connect({ apiKey: process.env.OPENAI_API_KEY ?? "unused", url });
await Promise.all([say(timer), until("the reply", () => calls.length && seen.stopped >= 1)]);
session.sendMessage("hello");
await until("the second reply", () => seen.stopped >= 2);
await Promise.all([
  say(time),
  until("the interruption", () => seen.interrupted >= 1),
  until("the third reply", () => seen.stopped >= 3),
]);
const report = { calls, seen, history: session.history };
session.close();
process.stdout.write(JSON.stringify(report), () => process.exit(0));
