// @ts-check
/** A turn's details, folded: where its time went, and a replay of how the reply was made. */

import { element } from "./element.js";
import { inPlainWords } from "./plain-words.js";
import { portions } from "./portions.js";
import { sceneAt } from "./record.js";
import { inMs, stages, total, waterfall } from "./waterfall.js";

/** @typedef {import("./conversation.js").Turn} Turn */
/** @typedef {import("./record.js").Moment} Moment */
/** @typedef {import("./record.js").Kind} Kind */

/** A turn is over too quickly to follow, so the replay is in slow motion. */
const SPEED = 0.5;

/** Lanes of the timeline, and the kinds of moments in each. */
const LANES = /** @type {{name: string, kinds: Kind[]}[]} */ ([
  { name: "Your words", kinds: ["words", "stopped"] },
  { name: "Drafts", kinds: ["draft"] },
  { name: "Denoising", kinds: ["step"] },
  { name: "Verified", kinds: ["certain"] },
  { name: "Tools", kinds: ["call", "result"] },
  { name: "Sound", kinds: ["sound", "silence"] },
]);

export class Thinking {
  constructor() {
    this._total = element("span", "total");
    this._table = element("div");
    this._replay = new Replay();
    const head = element("summary", "", [element("span", "watch", "Watch it think"), this._total]);
    this.node = element("details", "latency", [head, this._replay.node, this._table]);
    this.node.hidden = true;
    this.node.addEventListener("toggle", () => {
      this._unfold();
      if (this.node.open) this.node.scrollIntoView({ block: "nearest" });
    });
    /** @type {Turn | null} */
    this._turn = null;
  }

  /** @param {Turn} turn */
  show(turn) {
    this._turn = turn;
    const parts = waterfall(turn.marksMs, turn.voiceToVoiceMs);
    const over = turn.replies.length > 0 && turn.replies.every((reply) => reply.done);
    // A greeting has no thinking to show.
    this.node.hidden = !turn.user || (!parts && !(over && turn.moments.length > 0));
    if (this.node.hidden) return;
    if (parts) {
      const told = total(parts, parts.measured && !turn.user?.typed);
      if (!this._total.isEqualNode(told)) this._total.replaceChildren(...told.childNodes);
    }
    this._unfold();
  }

  _unfold() {
    if (!this.node.open || !this._turn) return this._replay.stop();
    const parts = waterfall(this._turn.marksMs, this._turn.voiceToVoiceMs);
    this._table.replaceChildren(...(parts ? [stages(parts)] : []));
    this._replay.show(this._turn.moments);
  }
}

/** A slider over a turn's time, buttons that move it, and the state of the turn at that time. */
class Replay {
  constructor() {
    this._scene = element("div", "scene");
    this._lanes = element("div", "lanes");
    this._lanes.setAttribute("aria-hidden", "true");
    this._play = button("Play", () => (this._playing ? this.stop() : this._start()));
    const back = button("‹", () => this._step(-1), "Step back");
    const on = button("›", () => this._step(1), "Step on");
    this._slider = element("input");
    Object.assign(this._slider, { type: "range", min: "0", step: "10", value: "0" });
    this._slider.setAttribute("aria-label", "Time after the beginning of speech");
    this._slider.addEventListener("input", () => {
      this.stop();
      this._draw();
    });
    this._clock = element("span", "clock");
    this.node = element("div", "replay", [
      this._scene,
      this._lanes,
      element("div", "transport", [this._play, back, on, this._slider, this._clock]),
    ]);
    /** @type {Moment[]} */
    this._moments = [];
    this._playing = false;
    this._nowMs = 0;
  }

  /** @param {Moment[]} moments */
  show(moments) {
    this.node.hidden = moments.length === 0;
    if (this.node.hidden) return;
    // A recording only grows, so the same end means that nothing has changed.
    if (moments === this._moments && Number(this._slider.max) >= this._endMs()) return;
    this._moments = moments;
    const endMs = Math.ceil(this._endMs() / 10) * 10;
    this._slider.max = String(endMs);
    this._lanes.replaceChildren(...LANES.flatMap((lane) => laneOf(lane, moments, endMs)));
    if (!this._playing) this._seek(endMs);
  }

  stop() {
    this._playing = false;
    this._play.textContent = "Play";
  }

  _endMs() {
    return this._moments.at(-1)?.atMs ?? 0;
  }

  _start() {
    if (this._nowMs >= this._endMs()) this._seek(0);
    this._playing = true;
    this._play.textContent = "Pause";
    let lastMs = performance.now();
    const frame = () => {
      if (!this._playing || !this.node.isConnected) return;
      const nowMs = performance.now();
      this._seek(this._nowMs + (nowMs - lastMs) * SPEED);
      lastMs = nowMs;
      if (this._nowMs >= this._endMs()) this.stop();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** @param {1 | -1} way To the next moment, or the one before. */
  _step(way) {
    this.stop();
    const times = this._moments.map(({ atMs }) => atMs);
    const next = times.find((ms) => ms > this._nowMs) ?? this._endMs();
    this._seek(way > 0 ? next : (times.findLast((ms) => ms < this._nowMs) ?? 0));
  }

  /** @param {number} ms */
  _seek(ms) {
    this._slider.value = String(ms);
    this._draw(ms);
  }

  /** @param {number} [exactMs] The exact time, since the slider's is rounded. */
  _draw(exactMs = Number(this._slider.value)) {
    this._nowMs = exactMs;
    const scene = sceneAt(this._moments, exactMs);
    const at = `${inMs(exactMs)}${scene.phase && ` · ${scene.phase}`}`;
    this._clock.textContent = at;
    this._slider.setAttribute("aria-valuetext", at);
    this._lanes.style.setProperty("--now", String(exactMs / Number(this._slider.max || 1)));
    this._scene.replaceChildren(...linesOf(scene));
  }
}

/** @param {import("./record.js").Scene} scene @returns {HTMLElement[]} */
function linesOf({ words, draft, certain, step, tools }) {
  const lines = [told("You", [words || "…"])];
  if (draft) {
    const calls = (draft.calls ?? []).map((call) => inPlainWords(call.name, call.arguments ?? {}));
    const shown = [...calls, draft.text].filter(Boolean).join(" — ");
    const sure = draft.confidence === undefined ? "" : ` (${Math.round(100 * draft.confidence)} % sure)`;
    lines.push(told(`Draft ${draft.number}`, [element("span", "guess", `${shown}${sure}`)]));
  }
  for (const { call, result } of tools) {
    const made = inPlainWords(call.name, call.arguments ?? {});
    lines.push(told("Tool", [result === null ? `${made} …` : `${made}: ${result}`]));
  }
  const { unheard, draft: guess } = portions({ text: certain, heard: 0, draft: step });
  if (certain || step) lines.push(told("Agent", [unheard, element("span", "guess", guess)]));
  return lines;
}

/** @param {string} who @param {(Node | string)[]} words @returns {HTMLElement} */
function told(who, words) {
  return element("div", "line", [element("div", "who", who), element("div", "words", words)]);
}

/**
 * @param {{name: string, kinds: Kind[]}} lane
 * @param {Moment[]} moments
 * @param {number} endMs
 * @returns {HTMLElement[]} Nothing, if nothing happened there.
 */
function laneOf({ name, kinds }, moments, endMs) {
  const marks = moments.filter(({ kind }) => kinds.includes(kind));
  if (marks.length === 0) return [];
  const ticks = marks.map(({ atMs, kind }) => {
    const tick = element("span", `tick tick-${kind}`);
    tick.style.setProperty("--at", `${(100 * atMs) / (endMs || 1)}%`);
    return tick;
  });
  return [element("span", "lane-name", name), element("span", "track", ticks)];
}

/** @param {string} words @param {() => void} act @param {string} [label] @returns {HTMLButtonElement} */
function button(words, act, label = "") {
  const made = element("button", "", words);
  made.type = "button";
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}
