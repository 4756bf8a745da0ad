import assert from "node:assert/strict";
import { test } from "node:test";

import { RtcSocket, transport } from "../../web/rtc-socket.js";

/** A connection that the test opens and ends. */
class Peer {
  static last;
  connectionState = "new";
  localDescription = { sdp: "offer" };
  channel = { bufferedAmount: 0 };

  constructor() {
    Peer.last = this;
  }

  createDataChannel() {
    return this.channel;
  }

  addTrack() {}

  async setLocalDescription() {}

  async setRemoteDescription({ sdp }) {
    this.answer = sdp;
  }

  close() {
    this.connectionState = "closed";
  }
}
globalThis.RTCPeerConnection = Peer;

/** A call that the server answers with a status; 0 if it cannot be reached. */
async function call(status) {
  const told = { closed: [], unable: 0 };
  globalThis.fetch = async (url, request) => {
    Object.assign(told, { url: url.href, request });
    if (!status) throw new TypeError("Failed to fetch");
    return { status, ok: status === 201, text: async () => "answer" };
  };
  const line = { stream: { getAudioTracks: () => [{}] }, hear() {} };
  const protocols = ["realtime", "openai-insecure-api-key.k1"];
  const url = "wss://agent/v1/realtime?model=quicksilver";
  const socket = new RtcSocket(url, protocols, line, () => (told.unable += 1));
  socket.onclose = ({ code, reason }) => told.closed.push(code, ...(reason ? [reason] : []));
  await new Promise(setImmediate);
  return { socket, told, peer: Peer.last };
}

test("a page calls by WebRTC from another machine, and as its address says", () => {
  const of = (hostname, search = "") => transport({ hostname, search });
  assert.deepEqual(of("localhost"), { wanted: false, forced: false });
  assert.deepEqual(of("127.0.0.1"), { wanted: false, forced: false });
  assert.deepEqual(of("agent.example"), { wanted: true, forced: false });
  assert.deepEqual(of("localhost", "?transport=webrtc"), { wanted: true, forced: true });
  assert.deepEqual(of("agent.example", "?transport=websocket"), { wanted: false, forced: true });
});

test("the offer goes with the key, and the server ends the call", async () => {
  const { socket, told, peer } = await call(201);
  assert.equal(told.url, "https://agent/v1/realtime/calls?model=quicksilver");
  assert.equal(told.request.headers.Authorization, "Bearer k1");
  assert.equal(peer.answer, "answer");
  peer.channel.onopen();
  assert.equal(socket.readyState, 1);
  peer.channel.onclose();
  peer.channel.onclose();
  assert.deepEqual([told.closed, told.unable], [[1000], 0]);
});

test("the last event of a call says why it ends, as a close code does", async () => {
  const seen = [];
  for (const [kind, code] of [
    ["error", "1012"],
    ["error", "invalid_value"],
    ["error", null],
    ["response.done", undefined],
  ]) {
    const { told, peer } = await call(201);
    peer.channel.onopen();
    const message = { type: kind, ...(kind === "error" && { error: { code, message: "so" } }) };
    peer.channel.onmessage({ data: JSON.stringify(message) });
    peer.channel.onclose();
    seen.push(told.closed);
  }
  assert.deepEqual(seen, [[1012, "so"], [1000], [1000], [1000]]);
});

test("where no call comes about, a WebSocket may; but not past a key, a full house or no server", async () => {
  const seen = [];
  for (const status of [501, 401, 502, 503, 0]) {
    const { told } = await call(status);
    seen.push([...told.closed, told.unable]);
  }
  assert.deepEqual(seen, [
    [1006, 1],
    [1006, 0],
    [1006, 0],
    [1013, 0],
    [1006, 0],
  ]);
});
