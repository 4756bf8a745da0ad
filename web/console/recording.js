// @ts-check
/** One conversation: its sound, a transcript that follows the sound, tool calls and latencies. */

import { element } from "../element.js";
import { inPlainWords } from "../plain-words.js";
import { save } from "../saving.js";
import { inMs, stages, summary, waterfall } from "../waterfall.js";
import { ask, askJson } from "./api.js";
import { outcome, when } from "./lists.js";
import { Player } from "./player.js";
import { clock, timed } from "./timeline.js";

/** @typedef {{node: HTMLElement, startMs: number, endMs: number}} Timed Marked while it sounds. */

export class Recording {
  /**
   * @param {HTMLElement} place
   * @param {string} id
   * @param {string} key
   * @param {(error: unknown) => void} failed
   */
  constructor(place, id, key, failed) {
    this._place = place;
    this._path = `/${encodeURIComponent(id)}`;
    this._id = id;
    this._key = key;
    this._failed = failed;
    this._closed = false;
    /** @type {Timed[]} */
    this._timed = [];
    this.player = new Player((ms, playing) => this._follow(ms, playing));
  }

  /** Load the conversation and its sound, and show them. */
  async open() {
    const found = await askJson(this._path, this._key);
    if (this._closed) return;
    const turns = found.turns.map((/** @type {any} */ turn) => this._turn(turn));
    const about = `${found.caller} · ${found.agent} · ${when(found.began)} · ${clock(found.seconds)}`;
    this._place.replaceChildren(
      element("h2", "", about),
      element("p", "soft", outcome(found)),
      element("div", "keep", [
        this._export("Export as ZIP", "/export", "zip", "application/zip"),
        this._export("Export as JSON", "", "json", "application/json"),
      ]),
      this.player.node,
      element("ol", "turns", turns.filter(Boolean)),
      ...found.problems.map((/** @type {any} */ each) =>
        element("p", "soft", `${clock(each.at_ms / 1000)} ${each.stage}: ${each.message}`),
      ),
    );
    const sound = await ask(`${this._path}/sound`, this._key).catch(() => null);
    const file = sound && (await sound.arrayBuffer());
    if (!this._closed) await this.player.load(file);
  }

  close() {
    this._closed = true;
    this.player.close();
    this._place.replaceChildren();
  }

  /** @param {number} ms @param {boolean} playing */
  _follow(ms, playing) {
    for (const { node, startMs, endMs } of this._timed) {
      const now = startMs <= ms && ms < endMs;
      if (now === node.classList.contains("now")) continue;
      node.classList.toggle("now", now);
      if (now && playing) node.scrollIntoView({ block: "nearest" });
    }
  }

  /** @param {string} label @param {string} part @param {string} kind @param {string} type */
  _export(label, part, kind, type) {
    const made = element("button", "", label);
    made.type = "button";
    made.addEventListener("click", () => {
      ask(`${this._path}${part}`, this._key)
        .then((answer) => answer.arrayBuffer())
        .then((file) => save(`${this._id}.${kind}`, type, file))
        .catch(this._failed);
    });
    return made;
  }

  /** @param {number | null} ms @param {string} who */
  _at(ms, who) {
    if (ms === null) return [who];
    const made = element("button", "at", clock(ms / 1000));
    made.type = "button";
    made.setAttribute("aria-label", `Hear ${who} at ${clock(ms / 1000)}`);
    made.addEventListener("click", () => this.player.seek(ms / 1000));
    return [made, who];
  }

  /** @param {string} kind @param {number | null} ms @param {string} who @param {(Node | string)[]} words */
  _line(kind, ms, who, words) {
    return element("div", `line ${kind}`, [
      element("div", "who", this._at(ms, who)),
      element("div", "words", words),
    ]);
  }

  /** @param {any} turn @returns {HTMLElement | ""} Empty if nothing was said. */
  _turn(turn) {
    const lines = [];
    if (turn.text) {
      const remark = turn.cut_off ? [element("span", "remark", "Cut off too early")] : [];
      const who = turn.typed ? "Typed" : "Caller";
      // Conversations kept by older versions have no times for the caller's words.
      const said = this._words({ ...turn, words: turn.words ?? [] }, "");
      const line = this._line("user", turn.start_ms ?? turn.at_ms, who, [...said, ...remark]);
      if (turn.estimated) line.title = "When each word was said is estimated.";
      lines.push(line);
    }
    for (const reply of turn.replies) lines.push(...reply.tools.map(tool), this._reply(reply));
    if (turn.text && turn.replies.length === 0) lines.push(element("p", "soft", "Not answered"));
    const parts = waterfall(turn.marks_ms, null);
    if (parts) {
      const folded = element("details", "latency", [summary(parts), stages(parts)]);
      lines.push(folded);
    }
    return lines.length > 0 ? element("li", "turn", lines) : "";
  }

  /** @param {any} reply */
  _reply(reply) {
    const remarks = reply.status === "completed" ? "" : `${reply.status} ${reply.reason}`.trim();
    return this._line("reply", reply.start_ms, "Agent", [
      ...this._words(reply, "unheard"),
      ...(remarks ? [element("span", "remark", remarks)] : []),
    ]);
  }

  /** @param {import("./timeline.js").Said} said @param {string} kind Class of the untimed rest. */
  _words(said, kind) {
    const { words, rest } = timed(said);
    const shown = words.map(({ text, startMs, endMs }) => {
      const node = element("span", "", text);
      this._timed.push({ node, startMs, endMs });
      return node;
    });
    return [...shown, element("span", words.length > 0 ? kind : "", rest)];
  }
}

/** @param {any} use @returns {HTMLElement} */
function tool(use) {
  const failed = use.error || use.result === null ? "failed" : "answered";
  const took = use.duration_ms === null ? "" : ` ${inMs(use.duration_ms)}`;
  return element("details", `tool ${failed}`, [
    element("summary", "", [
      element("span", "tool-said", inPlainWords(use.name, use.arguments)),
      element("span", "tool-result", use.result ?? "No result"),
    ]),
    element("div", "tool-call", [
      element("span", "tool-name", use.name),
      element("span", "argument", JSON.stringify(use.arguments)),
      element("span", "tool-time", took),
    ]),
  ]);
}
