// @ts-check
/** Plays a conversation's sound, and draws both sides as waves; seeks by slider or click. */

import { element } from "../element.js";
import { clock, peaks } from "./timeline.js";

/** Enough for voices; an hour of both sides takes 460 MB decoded. */
const RATE_HZ = 16000;

export class Player {
  /** @param {(ms: number, playing: boolean) => void} onTime Called when the position changes. */
  constructor(onTime) {
    this._onTime = onTime;
    this._context = new AudioContext({ sampleRate: RATE_HZ });
    /** @type {AudioBuffer | null} */
    this._buffer = null;
    /** @type {AudioBufferSourceNode | null} */
    this._source = null;
    this._startedS = 0;
    this._atS = 0;
    this._canvas = element("canvas");
    this._canvas.setAttribute("aria-hidden", "true");
    this._canvas.addEventListener("click", (event) =>
      this.seek((event.offsetX / this._canvas.clientWidth) * this.seconds),
    );
    this._button = element("button", "", "Play");
    this._button.type = "button";
    this._button.disabled = true;
    this._button.addEventListener("click", () => this.toggle());
    this._slider = element("input");
    Object.assign(this._slider, { type: "range", min: "0", max: "0", step: "0.1", value: "0" });
    this._slider.setAttribute("aria-label", "Position");
    this._slider.addEventListener("input", () => this.seek(Number(this._slider.value)));
    this._clock = element("span", "clock", "Loading…");
    this.node = element("div", "player", [
      element("div", "sides", [element("span", "caller", "Caller"), element("span", "agent", "Agent")]),
      this._canvas,
      element("div", "transport", [this._button, this._slider, this._clock]),
    ]);
    this._resized = new ResizeObserver(() => this._draw());
    this._resized.observe(this._canvas);
    this._scheme = matchMedia("(prefers-color-scheme: dark)");
    this._scheme.onchange = () => this._draw();
    /** @type {number[][]} */
    this._peaks = [];
  }

  /** @returns {number} */
  get seconds() {
    return this._buffer?.duration ?? 0;
  }

  /** @returns {number} The position, in seconds. */
  get position() {
    const played = this._source ? this._context.currentTime - this._startedS : 0;
    return Math.min(this.seconds, this._atS + played);
  }

  /** @param {ArrayBuffer | null} file Null if there is no sound. */
  async load(file) {
    try {
      this._buffer = file && (await this._context.decodeAudioData(file));
    } catch {
      this._buffer = null;
    }
    this._button.disabled = !this._buffer;
    this._slider.max = String(this.seconds);
    if (this._buffer) this.seek(0);
    else this._clock.textContent = "There is no sound that this browser can play.";
  }

  toggle() {
    if (this._source) this._stop();
    else if (this._buffer) this._play();
  }

  /** @param {number} seconds */
  seek(seconds) {
    const playing = this._source !== null;
    this._stop();
    this._atS = Math.max(0, Math.min(seconds, this.seconds));
    if (playing) this._play();
    this._show();
  }

  /** Stop, and release the audio device. */
  close() {
    this._stop();
    this._resized.disconnect();
    void this._context.close();
  }

  _play() {
    if (this.position >= this.seconds) this._atS = 0;
    const source = this._context.createBufferSource();
    source.buffer = this._buffer;
    source.connect(this._context.destination);
    source.onended = () => source === this._source && this._stop();
    void this._context.resume();
    source.start(0, this._atS);
    this._startedS = this._context.currentTime;
    this._source = source;
    this._button.textContent = "Pause";
    const frame = () => {
      if (source !== this._source) return;
      this._show();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  _stop() {
    this._atS = this.position;
    const source = this._source;
    this._source = null;
    source?.stop();
    this._button.textContent = "Play";
    if (source) this._show();
  }

  _show() {
    const told = `${clock(this.position)} of ${clock(this.seconds)}`;
    this._slider.value = String(this.position);
    this._slider.setAttribute("aria-valuetext", told);
    this._clock.textContent = told;
    this._draw();
    this._onTime(this.position * 1000, this._source !== null);
  }

  _draw() {
    const { clientWidth: width, clientHeight: height } = this._canvas;
    if (!this._buffer || !width) return;
    if (this._canvas.width !== width || this._peaks.length === 0) {
      this._canvas.width = width;
      this._canvas.height = height;
      this._peaks = [0, 1].map((side) => peaks(this._sideOf(side), width));
    }
    const paper = /** @type {CanvasRenderingContext2D} */ (this._canvas.getContext("2d"));
    const colours = getComputedStyle(this._canvas);
    paper.clearRect(0, 0, width, height);
    this._peaks.forEach((heights, side) => {
      paper.fillStyle = colours.getPropertyValue(side ? "--accent" : "--ink-faint");
      heights.forEach((peak, x) => {
        // A root makes soft voices visible.
        const tall = Math.max(0.5, (Math.sqrt(peak) * height) / 4);
        paper.fillRect(x, height * (side ? 0.75 : 0.25) - tall, 1, 2 * tall);
      });
    });
    paper.fillStyle = colours.getPropertyValue("--ink");
    paper.fillRect((this.position / this.seconds) * width, 0, 1.5, height);
  }

  /** @param {number} side @returns {Float32Array} */
  _sideOf(side) {
    return /** @type {AudioBuffer} */ (this._buffer).getChannelData(side);
  }
}
