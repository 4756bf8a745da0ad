// @ts-check
/** A call's sound, of both sides, compressed in the page's memory. It can be saved as a file. */

const PART_MS = 1000;
const BITS_PER_SECOND = 48000;
const ENDINGS = { webm: "webm", ogg: "ogg", mp4: "m4a" };

export class Soundtrack {
  /** @param {AudioContext} context */
  constructor(context) {
    this._mix = context.createMediaStreamDestination();
    this._recorder = new MediaRecorder(this._mix.stream, { audioBitsPerSecond: BITS_PER_SECOND });
    /** @type {Blob[]} */
    this._parts = [];
    this._recorder.ondataavailable = ({ data }) => this._parts.push(data);
    this._recorder.start(PART_MS);
  }

  /** @param {AudioNode} side To be recorded from now on. */
  add(side) {
    side.connect(this._mix);
  }

  stop() {
    if (this._recorder.state !== "inactive") this._recorder.stop();
  }

  /** @returns {string} A name for the file. */
  get name() {
    const kind = Object.keys(ENDINGS).find((each) => this._recorder.mimeType.includes(each));
    return `conversation.${ENDINGS[/** @type {keyof typeof ENDINGS} */ (kind ?? "webm")]}`;
  }

  /** @returns {Blob} */
  get sound() {
    return new Blob(this._parts, { type: this._recorder.mimeType });
  }
}
