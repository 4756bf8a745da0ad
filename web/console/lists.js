// @ts-check
/** Lists of conversations: those in progress, those that are kept, and latency by the hour. */

import { element } from "../element.js";
import { inMs } from "../waterfall.js";
import { clock } from "./timeline.js";

/** @param {string} began ISO 8601, UTC. @returns {string} In the browser's format and time zone. */
export function when(began) {
  const shown = { dateStyle: "medium", timeStyle: "short" };
  return new Date(began).toLocaleString([], /** @type {any} */ (shown));
}

/**
 * @param {string} day In the browser's time zone, such as "2026-03-01"; or empty.
 * @param {string} time Such as "23:59:59".
 * @returns {string} The same in UTC, such as "2026-03-01T22:59:59"; or empty.
 */
export function utc(day, time) {
  return day && new Date(`${day}T${time}`).toISOString().slice(0, 19);
}

/** @param {any} call @returns {string} */
export function outcome({ ended }) {
  if (!ended) return "It goes on, or the server ended before it did; what was not written is lost.";
  const by = { caller: "The caller ended it", agent: "The agent ended it" };
  const who = /** @type {Record<string, string>} */ (by)[ended.by] ?? "It was broken off";
  return `${who}: ${ended.reason}.`;
}

/** @param {any[]} calls @returns {HTMLElement[]} */
export function liveCalls(calls) {
  return calls.map((call) =>
    element("li", "", [
      element("div", "call", [
        element("span", "who", call.caller),
        element("span", "about", `${call.agent}, ${call.state}`),
        element("span", "figures", figures(call)),
      ]),
    ]),
  );
}

/** @param {any[]} calls @returns {HTMLElement[]} */
export function keptCalls(calls) {
  return calls.map((call) => {
    const marks = [
      ...call.orders,
      ...(call.errors ? [`errors: ${call.errors}`] : []),
      ...(call.unanswered ? [`unanswered: ${call.unanswered}`] : []),
      ...(call.ended?.by === "error" ? ["broken off"] : []),
    ];
    const link = element("a", "call", [
      element("span", "who", [when(call.began), element("br"), call.caller]),
      element("span", "about", [
        call.first || "Nothing was said",
        ...marks.map((mark) => element("span", "mark", ` ${mark}`)),
      ]),
      element("span", "figures", [`${call.agent}, ${figures(call)}`]),
    ]);
    link.href = `#/conversation/${encodeURIComponent(call.id)}`;
    return element("li", "", [link]);
  });
}

/** @param {any} call @returns {string} */
function figures({ seconds, latency_ms: latencyMs }) {
  return latencyMs === null ? clock(seconds) : `${clock(seconds)}, ${inMs(latencyMs)}`;
}

const COLUMNS = ["Hour", "Spoken", "p50", "p95", "False cutoffs", "Typed", "p50", "p95"];

/** @param {any[]} hours @returns {HTMLElement} */
export function hourTable(hours) {
  if (hours.length === 0) return element("p", "soft", "No turn was measured.");
  const head = COLUMNS.map((name) => {
    const cell = element("th", "", name);
    cell.setAttribute("scope", "col");
    return cell;
  });
  const ms = (/** @type {number | null} */ value) => (value === null ? "–" : inMs(value));
  const rows = hours.map(({ hour, spoken, cut_off: cutOff, typed }) => {
    const begins = element("th", "", `${hour.slice(5).replace("T", " ")} h`);
    begins.setAttribute("scope", "row");
    const cells = [
      ...[String(spoken.turns), ms(spoken.p50_ms), ms(spoken.p95_ms), String(cutOff)],
      ...[String(typed.turns), ms(typed.p50_ms), ms(typed.p95_ms)],
    ];
    return element("tr", "", [begins, ...cells.map((text) => element("td", "", text))]);
  });
  return element("table", "hours", [
    element("thead", "", [element("tr", "", head)]),
    element("tbody", "", rows),
  ]);
}
