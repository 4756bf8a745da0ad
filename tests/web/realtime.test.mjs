import assert from "node:assert/strict";
import { test } from "node:test";

import { RealtimeClient, backoffMs } from "../../web/realtime.js";

/** A socket that the test opens, feeds and closes. */
class Socket {
  static all = [];

  constructor(url, protocols) {
    Object.assign(this, {
      url,
      protocols,
      readyState: 0,
      bufferedAmount: 0,
      sent: [],
      closedWith: null,
    });
    Socket.all.push(this);
  }

  open() {
    this.readyState = 1;
    this.onopen();
  }

  send(text) {
    this.sent.push(JSON.parse(text));
  }

  close(code) {
    this.closedWith = code;
  }

  drop(code, reason = "") {
    this.readyState = 3;
    this.onclose({ code, reason });
  }
}

/** A client on such sockets, its clock in the test's hands. */
function setup() {
  Socket.all = [];
  const told = { events: [], links: [], problems: [] };
  const clock = { ms: 0 };
  const client = new RealtimeClient(
    "ws://agent/v1/realtime",
    {
      onEvent: (event) => told.events.push(event),
      onLink: (link) => told.links.push(link),
      onProblem: (problem) => told.problems.push(problem),
    },
    { WebSocket: Socket, random: () => 1, now: () => clock.ms },
  );
  return { client, told, clock };
}

const socket = () => Socket.all.at(-1);

test("a key that no subprotocol can carry is refused in words that do not repeat it", () => {
  for (const key of ["ab/cd+ef==", "two words", "schlüssel"]) {
    const { client, told } = setup();
    client.connect(key);
    assert.equal(Socket.all.length, 0);
    assert.equal(told.links.at(-1).state, "closed");
    assert.match(told.links.at(-1).reason, /cannot send this access key/);
    assert.ok(!told.links.at(-1).reason.includes(key));
  }
  const { client } = setup();
  client.connect("sk_A1-.~!#$%&'*+^`|");
  assert.equal(Socket.all.length, 1);
});

test("waits longer each time, up to a limit, and not all clients alike", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 9].map((n) => backoffMs(n, 1)),
    [500, 1000, 2000, 4000, 8000, 10000, 10000],
  );
  assert.equal(backoffMs(0, 0), 375);
});

test("offers the key as a subprotocol, and only then", () => {
  const { client } = setup();
  client.connect();
  assert.deepEqual(socket().protocols, ["realtime"]);
  client.close();
  client.connect("secret");
  assert.deepEqual(socket().protocols, ["realtime", "openai-insecure-api-key.secret"]);
});

test("sends only while open", () => {
  const { client } = setup();
  client.connect();
  assert.equal(client.send({ type: "a" }), false);
  socket().open();
  assert.equal(client.send({ type: "b" }), true);
  assert.deepEqual(socket().sent, [{ type: "b" }]);
});

test("a link that is stuck is given up for a new one", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, told } = setup();
  client.connect();
  socket().open();
  socket().bufferedAmount = 2_000_000;
  assert.equal(client.send({ type: "c" }), false);
  assert.equal(told.links.at(-1).state, "waiting");
  context.mock.timers.tick(500);
  const [stuck, fresh] = Socket.all;
  assert.deepEqual(stuck.sent, []);
  stuck.drop(1006);
  fresh.open();
  assert.equal(client.send({ type: "d" }), true);
  assert.equal(told.links.at(-1).state, "open");
});

test("reports what is not an event and goes on", () => {
  const { client, told } = setup();
  client.connect();
  socket().open();
  for (const data of ["{", "null", "7", "[]", '{"type":5}', new ArrayBuffer(2), '{"type":"ok"}']) {
    socket().onmessage({ data });
  }
  assert.equal(told.problems.length, 6);
  assert.deepEqual(told.events, [{ type: "ok" }]);
});

test("comes back after a loss, waiting longer each time", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, told } = setup();
  client.connect();
  socket().drop(1006);
  assert.deepEqual(told.links.at(-1), {
    state: "waiting",
    retryMs: 500,
    reason: "The server cannot be reached.",
  });
  context.mock.timers.tick(500);
  assert.equal(Socket.all.length, 2);
  socket().drop(1013);
  assert.equal(told.links.at(-1).retryMs, 1000);
  assert.match(told.links.at(-1).reason, /busy/);
  context.mock.timers.tick(999);
  assert.equal(Socket.all.length, 2);
  context.mock.timers.tick(1);
  assert.equal(Socket.all.length, 3);
});

test("says why the server closed, and comes back", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [code, reason, expected] of [
    [1006, "", "The server cannot be reached."],
    [1011, "internal error", "The server failed (internal error)."],
    [1013, "try again in 5 seconds", "The server is busy (try again in 5 seconds)."],
    [1011, "", "The server failed."],
    [1009, "", "A message was too large for the server."],
    [1003, "expected text", "The server closed the connection (expected text)."],
  ]) {
    const { client, told } = setup();
    client.connect();
    socket().open();
    socket().drop(code, reason);
    assert.deepEqual(told.links.at(-1), { state: "waiting", retryMs: 500, reason: expected });
  }
});

test("a connection that held begins the waits anew; one that fell at once does not", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, told, clock } = setup();
  client.connect();
  socket().drop(1006);
  context.mock.timers.tick(500);
  socket().open();
  clock.ms += 100;
  socket().drop(1011);
  assert.equal(told.links.at(-1).retryMs, 1000);
  context.mock.timers.tick(1000);
  socket().open();
  clock.ms += 60000;
  socket().drop(1012);
  assert.equal(told.links.at(-1).retryMs, 500);
});

test("can be told to try now", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { client } = setup();
  client.connect();
  client.retry();
  assert.equal(Socket.all.length, 1);
  socket().drop(1006);
  client.retry();
  assert.equal(Socket.all.length, 2);
  context.mock.timers.tick(20000);
  assert.equal(Socket.all.length, 2);
});

test("a farewell or a refusal is final", () => {
  for (const [code, reason] of [
    [1000, /^$/],
    [1008, /refused/],
  ]) {
    const { client, told } = setup();
    client.connect();
    socket().open();
    socket().drop(code);
    assert.equal(told.links.at(-1).state, "closed");
    assert.match(told.links.at(-1).reason, reason);
    client.retry();
    assert.equal(Socket.all.length, 1);
  }
});

test("after hanging up nothing more is heard of the socket", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, told } = setup();
  client.connect();
  socket().open();
  client.close();
  assert.equal(socket().closedWith, 1000);
  socket().onmessage({ data: '{"type":"late"}' });
  socket().drop(1006);
  context.mock.timers.tick(60000);
  assert.deepEqual(told.events, []);
  assert.deepEqual(told.links.at(-1), { state: "closed" });
  assert.equal(Socket.all.length, 1);
});
