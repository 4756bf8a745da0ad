// @ts-check
/** The console: signs in, shows what the address names, and refreshes the list of live calls. */

import { Memory } from "../memory.js";
import { Refused, askJson } from "./api.js";
import { hourTable, keptCalls, liveCalls, utc } from "./lists.js";
import { Recording } from "./recording.js";

const LIVE_EVERY_MS = 2000;
const WEEK_MS = 7 * 24 * 3600 * 1000;
const PAGE = 50;

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

const tab = new Memory("tab");

/** @type {Recording | null} */
let recording = null;
/** Id of the oldest conversation that is listed. */
let oldest = "";
let searches = 0;
/** Whether the live calls could not be asked for the last time. */
let missed = false;

/** @param {string} message Empty for none. */
function problem(message) {
  byId("problem").textContent = message;
  byId("problem").hidden = !message;
}

/** @param {unknown} error */
function failed(error) {
  if (error instanceof Refused && error.signIn) {
    tab.set("key", "");
    show("sign-in");
    byId("key").focus();
  }
  problem(error instanceof Error ? error.message : String(error));
}

/** @param {string} id Of the view. */
function show(id) {
  for (const view of document.querySelectorAll(".view")) {
    /** @type {HTMLElement} */ (view).hidden = view.id !== id;
  }
  byId("views").hidden = id === "sign-in";
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.getAttribute("href") === (location.hash || "#/");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Show what the address names. */
async function route() {
  problem("");
  recording?.close();
  recording = null;
  if (!tab.get("key")) return show("sign-in");
  const [, name, id] = location.hash.split("/");
  try {
    if (name === "conversation" && id) {
      show("conversation");
      const named = decodeURIComponent(id);
      recording = new Recording(byId("conversation"), named, tab.get("key"), failed);
      await recording.open();
    } else if (name === "latency") {
      show("latency");
      const since = new Date(Date.now() - WEEK_MS).toISOString().slice(0, 10);
      const { hours } = await askJson("/latency", tab.get("key"), { since });
      byId("hours").replaceChildren(hourTable(hours));
    } else {
      show("overview");
      await Promise.all([live(), search()]);
    }
  } catch (error) {
    failed(error);
  }
}

async function live() {
  const calls = (await askJson("/live", tab.get("key"))).live;
  byId("live").replaceChildren(...liveCalls(calls));
  byId("nobody").hidden = calls.length > 0;
}

/** @param {string} [before] Id of a conversation: append older ones instead of listing anew. */
async function search(before = "") {
  const wanted = /** @type {Record<string, string>} */ (
    Object.fromEntries(new FormData(byId("search")).entries())
  );
  const since = utc(wanted.since, "00:00:00");
  const until = utc(wanted.until, "23:59:59");
  const mine = (searches += 1);
  const asked = { ...wanted, since, until, before };
  const found = (await askJson("", tab.get("key"), asked)).conversations;
  // Another was asked for meanwhile.
  if (mine !== searches) return;
  const list = byId("kept");
  if (!before) list.replaceChildren();
  list.append(...keptCalls(found));
  oldest = found.at(-1)?.id ?? "";
  byId("older").hidden = found.length < PAGE;
  byId("count").textContent = list.children.length > 0 ? "" : "No kept conversation matches.";
}

byId("sign-in").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  tab.set("key", byId("key").value.trim());
  byId("key").value = "";
  void route();
});

byId("sign-out").addEventListener("click", () => {
  tab.set("key", "");
  for (const id of ["live", "kept", "hours"]) byId(id).replaceChildren();
  void route();
});

byId("search").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  search().catch(failed);
});

byId("older").addEventListener("click", () => search(oldest).catch(failed));

addEventListener("hashchange", () => {
  void route();
  byId("scroller").focus();
});

setInterval(async () => {
  if (byId("overview").hidden || document.hidden) return;
  try {
    await live();
    if (missed) problem("");
    missed = false;
  } catch (error) {
    missed = true;
    failed(error);
  }
}, LIVE_EVERY_MS);

void route();

// For tests and debugging: the position of the sound.
Object.defineProperty(window, "quicksilver", {
  value: Object.freeze({
    get seconds() {
      return recording?.player.seconds ?? 0;
    },
    get position() {
      return recording?.player.position ?? 0;
    },
  }),
});
