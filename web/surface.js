// @ts-check
/** The line above the dock: still when nobody speaks, and moved by the sound of whoever does. */

/** @typedef {import("./conversation.js").Activity} Activity */

const POINTS = 96;
const PULSE_PERIOD_MS = 1800;

/**
 * Heights of the line for a stretch of sound, flat towards both ends.
 *
 * @param {Float32Array} wave In [-1, 1].
 * @param {number} points
 * @returns {number[]} In [-1, 1].
 */
export function heights(wave, points = POINTS) {
  const span = wave.length / points;
  return Array.from({ length: points }, (_, i) => {
    const piece = wave.subarray(Math.floor(i * span), Math.floor((i + 1) * span));
    const mean = piece.reduce((sum, x) => sum + x, 0) / Math.max(1, piece.length);
    const place = Math.sin((Math.PI * i) / (points - 1)) ** 2;
    // Speech is mostly quiet; a root makes soft voices visible without clipping loud ones.
    return Math.sign(mean) * Math.sqrt(Math.abs(mean)) * place;
  });
}

/**
 * A soft hump that wanders along the line.
 *
 * @param {number} nowMs
 * @param {number} points
 * @returns {number[]} In [0, 1].
 */
export function pulse(nowMs, points = POINTS) {
  const centre = ((nowMs % PULSE_PERIOD_MS) / PULSE_PERIOD_MS) * 1.4 - 0.2;
  return Array.from({ length: points }, (_, i) => {
    const distance = (i / (points - 1) - centre) / 0.07;
    return 0.35 * Math.exp(-distance * distance);
  });
}

export class Surface {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this._canvas = canvas;
    this._paper = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this._wave = new Float32Array(1024);
    this._shape = new Array(POINTS).fill(0);
    this._still = matchMedia("(prefers-reduced-motion: reduce)");
    /** @type {() => {activity: Activity | "idle", analyser: AnalyserNode | null}} */
    this._look = () => ({ activity: "idle", analyser: null });
    this._running = false;
    new ResizeObserver(() => this._draw(false)).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this._draw(false));
  }

  /** @param {() => {activity: Activity | "idle", analyser: AnalyserNode | null}} look Asked at each frame. */
  follow(look) {
    this._look = look;
    if (this._running) return;
    this._running = true;
    requestAnimationFrame((nowMs) => this._frame(nowMs));
  }

  /** @param {number} nowMs */
  _frame(nowMs) {
    const { activity, analyser } = this._look();
    const target = this._target(activity, analyser, nowMs);
    let moving = false;
    for (let i = 0; i < POINTS; i += 1) {
      this._shape[i] += (target[i] - this._shape[i]) * 0.35;
      moving ||= Math.abs(this._shape[i]) > 0.002;
    }
    this._draw(activity !== "idle" && activity !== "listening");
    this._running = moving || activity !== "idle";
    if (this._running) requestAnimationFrame((ms) => this._frame(ms));
  }

  /** @param {Activity | "idle"} activity @param {AnalyserNode | null} analyser @param {number} nowMs */
  _target(activity, analyser, nowMs) {
    if (this._still.matches || activity === "idle") return new Array(POINTS).fill(0);
    if (activity === "thinking") return pulse(nowMs);
    if (!analyser) return new Array(POINTS).fill(0);
    analyser.getFloatTimeDomainData(this._wave);
    return heights(this._wave);
  }

  /** @param {boolean} lively */
  _draw(lively) {
    const { clientWidth: width, clientHeight: height } = this._canvas;
    const ratio = window.devicePixelRatio || 1;
    if (this._canvas.width !== Math.round(width * ratio))
      this._canvas.width = Math.round(width * ratio);
    if (this._canvas.height !== Math.round(height * ratio))
      this._canvas.height = Math.round(height * ratio);
    const colours = getComputedStyle(this._canvas);
    const paper = this._paper;
    paper.setTransform(ratio, 0, 0, ratio, 0, 0);
    paper.clearRect(0, 0, width, height);
    paper.lineWidth = lively ? 1.75 : 1;
    paper.strokeStyle = colours.getPropertyValue(lively ? "--accent" : "--line");
    paper.beginPath();
    paper.moveTo(0, height / 2);
    const step = width / (POINTS - 1);
    for (let i = 1; i < POINTS; i += 1) {
      const y = (1 - this._shape[i - 1] * 0.9) * (height / 2);
      const next = (1 - this._shape[i] * 0.9) * (height / 2);
      paper.quadraticCurveTo((i - 1) * step, y, (i - 0.5) * step, (y + next) / 2);
    }
    paper.lineTo(width, height / 2);
    paper.stroke();
  }
}
