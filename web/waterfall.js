// @ts-check
/** Where a turn's time went: a bar of stages with their total, and a table that opens from it. */

import { element } from "./element.js";

/** @typedef {{kind: string, name: string, startMs: number, endMs: number}} Stage */

/** @typedef {{totalMs: number, measured: boolean, path: Stage[], overlapping: Stage[]}} Waterfall */

/** The time that fills the bar's whole width; the same for all turns, so that they compare. */
const FULL_BAR_MS = 1200;

/** Stages from the end of speech to the first sound, in order, each with the mark that ends it. */
const PATH = [
  { mark: "end_of_turn", kind: "wait", name: "End of turn" },
  { mark: "reply_committed", kind: "think", name: "Thinking" },
  { mark: "first_audio", kind: "voice", name: "Voice" },
];

/**
 * Stages from a turn's marks.
 *
 * The stages of `path` follow one another without gaps and add up to the total; those of
 * `overlapping` ran meanwhile. A mark that is missing, or earlier than the one before it, makes no
 * stage.
 *
 * @param {Record<string, number>} marksMs Mark → ms after the end of speech; `tool.<name>` a duration.
 * @param {number | null} voiceToVoiceMs As measured by the page; null takes the server's last mark.
 * @returns {Waterfall | null} Null if nothing is known.
 */
export function waterfall(marksMs, voiceToVoiceMs) {
  /** @type {Stage[]} */
  const path = [];
  let atMs = 0;
  /** @param {string} kind @param {string} name @param {number | null | undefined} endMs */
  const advance = (kind, name, endMs) => {
    if (endMs === undefined || endMs === null || endMs <= atMs) return;
    path.push({ kind, name, startMs: atMs, endMs });
    atMs = endMs;
  };
  for (const { mark, kind, name } of PATH) advance(kind, name, marksMs[mark]);
  // Until the server's marks have come, only the total is known.
  advance("travel", path.length > 0 ? "Delivery" : "In all", voiceToVoiceMs);
  if (path.length === 0) return null;

  /** @type {Stage[]} */
  const overlapping = [];
  const recognised = marksMs.asr_final;
  if (recognised > 0) {
    overlapping.push({ kind: "recognise", name: "Recognition", startMs: 0, endMs: recognised });
  }
  for (const [mark, ms] of Object.entries(marksMs)) {
    if (!mark.startsWith("tool.")) continue;
    const startMs = marksMs.end_of_turn ?? 0;
    overlapping.push({ kind: "tool", name: mark.slice(5), startMs, endMs: startMs + ms });
  }
  return { totalMs: voiceToVoiceMs ?? atMs, measured: voiceToVoiceMs !== null, path, overlapping };
}

/** @param {number} ms @returns {string} */
export function inMs(ms) {
  return ms < 10000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** @param {Waterfall} parts @param {boolean} spoken Whether it counts from the end of the user's speech. */
export function total({ totalMs }, spoken) {
  const label = spoken ? "voice to voice" : "to the first sound";
  return element("span", "total", [element("strong", "", inMs(totalMs)), ` ${label}`]);
}

/** @param {Waterfall} parts @returns {HTMLElement} A details' summary: a bar, and its legend. */
export function summary(parts) {
  const bar = element("div", "bar");
  bar.style.setProperty("--length", `${Math.min(100, (100 * parts.totalMs) / FULL_BAR_MS)}%`);
  bar.setAttribute("aria-hidden", "true");
  for (const { kind, startMs, endMs } of parts.path) {
    const piece = element("span", `piece stage-${kind}`);
    piece.style.flexGrow = String(endMs - startMs);
    bar.append(piece);
  }
  const keys = parts.path.map(({ kind, name, startMs, endMs }) =>
    element("span", `key stage-${kind}`, `${name} ${inMs(endMs - startMs)}`),
  );
  return element("summary", "", [bar, total(parts, false), element("span", "legend", keys)]);
}

/** @param {Waterfall} parts @returns {HTMLElement} All stages, as a table. */
export function stages({ path, overlapping }) {
  const all = [...path, ...overlapping];
  const longestMs = Math.max(...all.map((stage) => stage.endMs));
  const rows = all.map(({ kind, name, startMs, endMs }) => {
    const piece = element("span", `piece stage-${kind}`);
    piece.style.setProperty("--start", `${(100 * startMs) / longestMs}%`);
    piece.style.setProperty("--length", `${(100 * (endMs - startMs)) / longestMs}%`);
    const head = element("th", "", name);
    head.setAttribute("scope", "row");
    const lane = element("div", "lane", [piece]);
    lane.setAttribute("aria-hidden", "true");
    return element("tr", "", [
      head,
      element("td", "", [lane]),
      element("td", "", inMs(endMs - startMs)),
    ]);
  });
  return element("table", "stages", [element("tbody", "", rows)]);
}
