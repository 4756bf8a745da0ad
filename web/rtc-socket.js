// @ts-check
/**
 * A WebRTC call with a WebSocket's interface: events go over a data channel, sound over tracks.
 *
 * Sound over WebRTC tolerates a network that loses packets; a WebSocket would wait for them.
 */

/** @typedef {{stream: MediaStream, hear: (stream: MediaStream) => void}} Line */

const LONGEST_DIAL_MS = 8000;
const KEY = "openai-insecure-api-key.";

/**
 * @param {Location} page
 * @returns {{wanted: boolean, forced: boolean}} Whether to call by WebRTC, and whether the address
 *   names the transport, so that no other may be tried.
 */
export function transport({ hostname, search }) {
  const asked = new URLSearchParams(search).get("transport");
  const near = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const wanted = asked ? asked === "webrtc" : !near;
  return { wanted: wanted && "RTCPeerConnection" in globalThis, forced: asked !== null };
}

export class RtcSocket {
  /**
   * @param {string} url The WebSocket's address.
   * @param {string[]} protocols One of them may carry a key, as for a WebSocket.
   * @param {Line} line
   * @param {() => void} onUnable Called if no call came about, but a WebSocket might succeed.
   */
  constructor(url, protocols, line, onUnable) {
    this.readyState = 0;
    /** @type {() => void} */
    this.onopen = () => {};
    /** @type {(message: {data: unknown}) => void} */
    this.onmessage = () => {};
    /** @type {(closed: {code: number, reason: string}) => void} */
    this.onclose = () => {};
    this._onUnable = onUnable;
    this._peer = new RTCPeerConnection();
    this._channel = this._peer.createDataChannel("oai-events");
    this._channel.onopen = () => {
      this.readyState = 1;
      this.onopen();
    };
    /** @type {unknown} */
    this._last = "";
    this._channel.onmessage = (message) => {
      this._last = message.data;
      this.onmessage(message);
    };
    // The channel closes when the server hangs up, or when the connection has failed.
    this._channel.onclose = () => {
      const [code, reason] = farewell(this._last);
      this._end(this._peer.connectionState === "failed" ? 1006 : code, reason);
    };
    this._peer.onconnectionstatechange = () => {
      if (this._peer.connectionState === "failed") this._end(1006);
    };
    this._peer.ontrack = ({ streams }) => line.hear(streams[0]);
    this._peer.addTrack(line.stream.getAudioTracks()[0], line.stream);
    this._timer = setTimeout(() => this.readyState === 0 && this._end(1006), LONGEST_DIAL_MS);
    this._dial(url, protocols).catch(() => this._end(1006));
  }

  get bufferedAmount() {
    return this._channel.bufferedAmount;
  }

  /** @param {string} text */
  send(text) {
    this._channel.send(text);
  }

  close() {
    this.readyState = 3;
    clearTimeout(this._timer);
    this._peer.close();
  }

  /** @param {string} url @param {string[]} protocols */
  async _dial(url, protocols) {
    const calls = new URL(url.replace(/^ws/, "http"));
    calls.pathname += "/calls";
    const key = protocols.find((each) => each.startsWith(KEY))?.slice(KEY.length);
    const headers = { "Content-Type": "application/sdp" };
    await this._peer.setLocalDescription();
    const answer = await fetch(calls, {
      method: "POST",
      body: this._peer.localDescription?.sdp,
      headers: key ? { ...headers, Authorization: `Bearer ${key}` } : headers,
    }).catch(() => null);
    // A WebSocket would fail as well: there is no server, it wants another key, or it is full.
    if (!answer || [401, 403, 502, 503, 504].includes(answer.status)) this._onUnable = () => {};
    if (!answer?.ok) return this._end(answer?.status === 503 ? 1013 : 1006);
    await this._peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  }

  /** @param {number} code A WebSocket's close code. @param {string} [reason] */
  _end(code, reason = "") {
    if (this.readyState === 3) return;
    if (this.readyState === 0) this._onUnable();
    this.close();
    this.onclose({ code, reason });
  }
}

/**
 * @param {unknown} last The last message of a call.
 * @returns {[number, string]} Why the call ends: an error's code is a close code if it is a number.
 */
function farewell(last) {
  try {
    const { code, message } = JSON.parse(String(last)).error;
    if (Number(code)) return [Number(code), String(message)];
  } catch {
    // Most events have no error.
  }
  return [1000, ""];
}
