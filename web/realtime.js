// @ts-check
/**
 * A client of the Realtime API over WebSocket: connects, reconnects, sends and receives JSON events.
 *
 * It knows nothing about audio devices or the page. Nothing that a server sends makes it throw: a
 * message that is not an event is reported and skipped.
 */

/** @typedef {{type: string, [field: string]: any}} ServerEvent */

/**
 * `ended`: the server hung up in the ordinary way.
 *
 * @typedef {{state: "connecting" | "open" | "closed", reason?: string, ended?: boolean}
 *   | {state: "waiting", retryMs: number, reason: string}} Link
 */

/**
 * @typedef {object} Listener
 * @property {(event: ServerEvent) => void} onEvent
 * @property {(link: Link) => void} onLink
 * @property {(problem: string) => void} onProblem A message that could not be understood, in words.
 */

const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10000;
const STABLE_MS = 5000;

/** Most bytes that may wait to be sent: a link that is so far behind is no longer live. */
const LARGEST_BACKLOG_BYTES = 1_000_000;

/** Characters that a subprotocol, and therefore a key, may consist of. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]*$/;

/** Close codes after which trying again would not help, and what to tell the user. */
const FINAL = new Map([
  [1000, ""],
  [
    1008,
    "The server refused the connection. If it asks for an access key, enter it in the settings.",
  ],
]);

/**
 * How long to wait before an attempt.
 *
 * @param {number} attempt 0 for the first retry.
 * @param {number} jitter In [0, 1), so that a restarted server's clients do not all come at once.
 * @returns {number} Milliseconds.
 */
export function backoffMs(attempt, jitter) {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
  return Math.round(longest * (0.75 + 0.25 * jitter));
}

/**
 * Why a connection is gone, in words.
 *
 * @param {number} code 1006 if the connection broke or was never made.
 * @param {string} reason The server's own words, if any.
 * @returns {string}
 */
function lost(code, reason) {
  if (code === 1006) return "The server cannot be reached.";
  if (code === 1012 || code === 1001) return "The server is restarting.";
  const told = reason && ` (${reason})`;
  if (code === 1013) return `The server is busy${told}.`;
  if (code === 1011) return `The server failed${told}.`;
  if (code === 1009) return `A message was too large for the server${told}.`;
  return `The server closed the connection${told}.`;
}

export class RealtimeClient {
  /**
   * @param {string} url ws: or wss:.
   * @param {Listener} listener
   * @param {{WebSocket?: typeof WebSocket, random?: () => number, now?: () => number}} [platform]
   */
  constructor(url, listener, platform = {}) {
    this._url = url;
    this._listener = listener;
    this._WebSocket = platform.WebSocket ?? globalThis.WebSocket;
    this._random = platform.random ?? Math.random;
    this._now = platform.now ?? (() => performance.now());
    /** @type {WebSocket | null} */
    this._socket = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    this._attempt = 0;
    this._wanted = false;
    this._openedAt = 0;
    this._key = "";
  }

  /** @returns {boolean} */
  get open() {
    return this._socket?.readyState === 1;
  }

  /** @param {string} [key] Sent as a subprotocol, the only place where a browser can put it. */
  connect(key = "") {
    if (!TOKEN.test(key)) {
      const reason =
        "A browser cannot send this access key: there may be letters, digits and !#$%&'*+-.^_`|~ in it, and nothing else.";
      this._listener.onLink({ state: "closed", reason });
      return;
    }
    this._key = key;
    this._wanted = true;
    this._attempt = 0;
    this._dial();
  }

  /** Try again now instead of after the wait. Does nothing unless waiting. */
  retry() {
    if (this._wanted && this._socket === null) this._dial();
  }

  /** Hang up; the only later report of this connection is `closed`. */
  close() {
    this._wanted = false;
    clearTimeout(this._timer);
    const socket = this._socket;
    this._socket = null;
    socket?.close(1000);
    this._listener.onLink({ state: "closed" });
  }

  /**
   * @param {{type: string, [field: string]: any}} event
   * @returns {boolean} Whether it went out; false while there is no connection. A connection that
   *   is stuck is given up for a new one.
   */
  send(event) {
    const socket = this._socket;
    if (socket?.readyState !== 1) return false;
    if (socket.bufferedAmount > LARGEST_BACKLOG_BYTES) {
      this._lost(1006, "");
      socket.close();
      return false;
    }
    socket.send(JSON.stringify(event));
    return true;
  }

  _dial() {
    clearTimeout(this._timer);
    this._listener.onLink({ state: "connecting" });
    const protocols = ["realtime"];
    if (this._key) protocols.push(`openai-insecure-api-key.${this._key}`);
    const socket = new this._WebSocket(this._url, protocols);
    this._socket = socket;
    socket.onopen = () => {
      if (socket !== this._socket) return;
      this._openedAt = this._now();
      this._listener.onLink({ state: "open" });
    };
    socket.onmessage = ({ data }) => {
      if (socket === this._socket) this._receive(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (socket === this._socket) this._lost(code, reason);
    };
  }

  /** @param {unknown} data */
  _receive(data) {
    /** @type {any} */
    let event;
    try {
      event = JSON.parse(/** @type {string} */ (data));
    } catch (error) {
      this._listener.onProblem(`The server sent something that is not JSON (${error}).`);
      return;
    }
    if (typeof event?.type !== "string") {
      this._listener.onProblem("The server sent a message without a type.");
      return;
    }
    this._listener.onEvent(event);
  }

  /** @param {number} code @param {string} reason */
  _lost(code, reason) {
    const opened = this._openedAt;
    this._socket = null;
    this._openedAt = 0;
    const final = FINAL.get(code);
    if (final !== undefined) {
      this._wanted = false;
      this._listener.onLink({ state: "closed", reason: reason || final, ended: code === 1000 });
      return;
    }
    // If a server accepts connections and drops them at once, the wait must still grow.
    if (opened && this._now() - opened >= STABLE_MS) this._attempt = 0;
    const retryMs = backoffMs(this._attempt, this._random());
    this._attempt += 1;
    this._timer = setTimeout(() => this._dial(), retryMs);
    this._listener.onLink({ state: "waiting", retryMs, reason: lost(code, reason) });
  }
}
