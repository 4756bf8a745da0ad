// @ts-check
/** The page: connects the call, the elements and the user's actions. */

import { Call } from "./call.js";
import { Notice } from "./notice.js";
import { SettingsDialog } from "./settings.js";
import { Surface } from "./surface.js";
import { Tap } from "./tap.js";
import { Transcript } from "./transcript.js";
import { introduction, whoIsHere } from "./agent.js";
import { asJson, asText, save } from "./saving.js";
import { announcement } from "./announce.js";
import { obstacle } from "./microphone.js";

/** @typedef {import("./conversation.js").Turn} Turn */

/** @param {string} id @returns {any} */
const byId = (id) => document.getElementById(id);

const STATES = {
  idle: "Ready",
  ended: "Call ended",
  connecting: "Connecting…",
  reconnecting: "Reconnecting…",
  listening: "Listening",
  hearing: "Hearing you",
  thinking: "Thinking",
  speaking: "Speaking",
  muted: "Muted",
  writing: "Your turn",
};

/** States that a screen reader announces; who is speaking in a call can be heard anyway. */
const OF_THE_CALL = new Set(["idle", "ended", "connecting", "reconnecting", "muted"]);

const url = new URL("v1/realtime", location.href);
url.protocol = url.protocol.replace("http", "ws");
url.hash = "";

const notice = new Notice(byId);
const surface = new Surface(byId("surface"));
const transcript = new Transcript(byId("turns"), byId("scroller"), byId("latest"));
const tap = new URLSearchParams(location.search).has("tap") ? new Tap() : null;
const settings = new SettingsDialog({
  onMicrophone: (deviceId) => attempt(() => call.sound.changeMicrophone(deviceId)),
  onSpeaker: (deviceId) => attempt(() => call.sound.changeSpeaker(deviceId)),
});

/** @type {WeakMap<Turn, Set<string>>} */
const announced = new WeakMap();

let call = newCall();
/** @type {Promise<void> | null} */
let starting = null;

/** @returns {Call} */
function newCall() {
  const { agent } = settings.chosen;
  url.search = `?${new URLSearchParams(agent ? { model: "quicksilver", agent } : { model: "quicksilver" })}`;
  return new Call(url.href, {
    onTurn: (turn) => {
      byId("welcome").hidden = true;
      transcript.show(turn);
      const words = announcement(turn, call.sound.speaker !== null);
      // A change to a turn, such as its latency, must not cause it to be read out again.
      const told = announced.get(turn) ?? new Set();
      if (!told.has(words)) tell(words);
      announced.set(turn, told.add(words));
    },
    onChange: () => show(),
    onNotice: (message) => notice.show(message),
    onTap: tap ? (block, frame) => tap.add(block, frame) : undefined,
  });
}

/** @returns {keyof typeof STATES} */
function state() {
  const link = call.link.state;
  if (starting || (link === "connecting" && !call.ready)) return "connecting";
  if (link === "waiting" || link === "connecting") return "reconnecting";
  if (!call.on) return call.ready ? "ended" : "idle";
  const activity = call.conversation.activity;
  if (activity !== "listening") return activity;
  if (!call.sound.microphone?.live) return "writing";
  return call.sound.microphone.muted ? "muted" : "listening";
}

let shownLink = "";

function show() {
  const now = state();
  const before = document.body.dataset.state ?? "";
  if (before !== now) {
    document.body.dataset.state = now;
    byId("state-text").textContent = STATES[now];
    if (OF_THE_CALL.has(now) || OF_THE_CALL.has(before)) tell(STATES[now]);
    surface.follow(() => ({ activity: voice(), analyser: analyser() }));
  }
  const listens = call.sound.microphone?.live === true;
  const focused = document.activeElement;
  byId("talk").hidden = listens || obstacle() !== "";
  byId("talk").disabled = starting !== null;
  byId("hang-up").hidden = !call.on;
  byId("keep").hidden = now !== "ended" || call.conversation.turns.length === 0;
  byId("save-sound").hidden = call.sound.track === null;
  byId("mute").hidden = !listens;
  byId("mute").setAttribute("aria-pressed", String(call.sound.microphone?.muted === true));
  // A button that is hidden hands the focus on to what can be done next.
  const next = call.on ? "hang-up" : obstacle() ? "words" : "talk";
  if (focused?.closest("[hidden]")) byId(next).focus();
  if (shownLink !== call.link.state) {
    shownLink = call.link.state;
    linkChanged();
  }
}

/** @returns {import("./conversation.js").Activity | "idle"} */
function voice() {
  const live = call.link.state === "open" || call.conversation.playing;
  return live ? call.conversation.activity : "idle";
}

/** @returns {AnalyserNode | null} */
function analyser() {
  const speaking = call.conversation.activity === "speaking";
  return (speaking ? call.sound.speaker?.analyser : call.sound.microphone?.analyser) ?? null;
}

function linkChanged() {
  const { link } = call;
  if (link.state === "open") notice.hide();
  if (link.state === "closed") {
    // A server that hung up before it said anything would only do so again.
    const spoke = call.conversation.turns.some(({ replies }) => replies.length > 0);
    void carryOn(call.takeUnanswered(), spoke && link.ended === true);
  }
  if (link.state !== "waiting") return;
  notice.show(`${link.reason} Trying again…`, { label: "Try now", run: () => call.retry() });
  void askWhatIsWrong();
}

/**
 * Send what was not answered before the call ended in a new call, or put it back into the field.
 *
 * @param {string[]} unanswered Typed messages.
 * @param {boolean} again Whether to try another call.
 */
async function carryOn(unanswered, again) {
  const left = [];
  for (const words of unanswered) if (!again || !(await write(words))) left.push(words);
  if (left.length === 0) return;
  giveBack(left.join(" "));
  if (byId("notice").hidden) notice.show("What you typed was not sent. It is in the field again.");
}

/** @param {string} words Put back into the field, before what has been typed meanwhile. */
function giveBack(words) {
  const field = byId("words");
  field.value = [words, field.value].filter(Boolean).join(" ");
}

/** Ask an HTTP route about key and agent: browsers do not say why a WebSocket was refused. */
async function askWhatIsWrong() {
  const { key } = settings.chosen;
  const agent = url.searchParams.get("agent");
  const answer = await fetch(
    `v1/agent${url.search}`,
    key ? { headers: { Authorization: `Bearer ${key}` } } : {},
  ).catch(() => null);
  if (answer?.status === 400 && agent) {
    call.hangUp();
    // It forgets the agent that was chosen.
    await introduce();
    const next = byId("agent-name").textContent;
    notice.show(`"${agent}" is not offered any more. The next conversation is with "${next}".`);
  }
  if (answer?.status !== 401) return;
  call.hangUp();
  const wrong = key
    ? "The server did not accept the access key."
    : "This server asks for an access key.";
  notice.show(wrong, { label: "Settings", run: () => settings.open(true) });
}

/** @param {string} words What a screen reader should say; empty for nothing new. */
function tell(words) {
  const place = byId("announcer");
  // A space makes words that come twice, as in two turns, another text, which is read out again.
  if (words) place.textContent = place.textContent === words ? `${words}\u00a0` : words;
}

/**
 * Do something, and show the user why if it fails.
 *
 * @param {() => Promise<void>} action
 */
async function attempt(action) {
  notice.hide();
  try {
    await action();
  } catch (error) {
    notice.show(error instanceof Error ? error.message : String(error));
  }
  show();
}

/**
 * @param {boolean} listen Whether to open the microphone; ignored while a start is in progress.
 * @returns {Promise<void>} Settles when the start in progress does.
 */
function start(listen) {
  if (!starting) {
    starting = begin(listen).finally(() => {
      starting = null;
      show();
    });
    show();
  }
  return starting;
}

/** @param {boolean} listen */
async function begin(listen) {
  if (call.link.state === "closed") {
    // A farewell may still be playing.
    call.hangUp();
    call = newCall();
    transcript.clear();
    byId("welcome").hidden = false;
    void introduce();
  }
  await attempt(() => call.start(settings.chosen, listen));
}

byId("talk").addEventListener("click", async () => {
  await start(true);
  byId(call.sound.microphone ? "hang-up" : "words").focus();
});

byId("hang-up").addEventListener("click", () => {
  // The notice may be about an attempt that is given up now.
  notice.hide();
  call.hangUp();
});

byId("mute").addEventListener("click", () => call.mute(call.sound.microphone?.muted === false));

byId("composer").addEventListener("submit", async (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  const field = byId("words");
  const words = field.value.trim();
  if (!words) return;
  field.value = "";
  if (!(await write(words))) giveBack(words);
});

/** @param {string} words @returns {Promise<boolean>} Whether there is a call to send them in. */
async function write(words) {
  await starting;
  if (call.link.state === "closed") await start(false);
  if (call.on) call.say(words);
  return call.on;
}

async function introduce() {
  // A call keeps its agent; a newly chosen one takes over with the next conversation.
  if (call.on) return;
  const agent = await whoIsHere(settings.chosen.key, settings.chosen.agent);
  if (!agent) return;
  settings.offer(agent.agents);
  byId("agent-name").textContent = agent.name;
  const parts = introduction(agent, async (words) => {
    await write(words);
    // The example's button is gone; focusing the field would open a telephone's keyboard.
    byId("hang-up").focus();
  });
  byId("introduction").replaceChildren(...parts);
}

byId("settings").addEventListener("close", () => void introduce());

byId("save-text").addEventListener("click", () =>
  save("conversation.txt", "text/plain", asText(call.conversation.turns)),
);

byId("save-json").addEventListener("click", () =>
  save("conversation.json", "application/json", asJson(call.conversation.turns)),
);

byId("save-sound").addEventListener("click", () => {
  const { track } = call.sound;
  if (track) save(track.name, track.sound.type, track.sound);
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) call.interrupt();
});

addEventListener("online", () => call.retry());

document.addEventListener("visibilitychange", () => call.sound.wake());

if (obstacle()) notice.show(obstacle());
show();
void introduce();

// For tests and debugging: state, turns and, with ?tap in the address, the audio that was played.
Object.defineProperty(window, "quicksilver", {
  value: Object.freeze({
    get state() {
      return state();
    },
    get turns() {
      return structuredClone(call.conversation.turns);
    },
    get played() {
      return tap?.recording() ?? null;
    },
  }),
});
