// @ts-check
/**
 * The settings dialog: agent, microphone, loudspeaker, voice, access key.
 *
 * The key is remembered until the tab is closed, everything else on this device.
 */

import { whoIsHere } from "./agent.js";
import { Memory } from "./memory.js";
import { hear, voices } from "./voices.js";

/** @typedef {import("./call.js").Settings} Settings */

const devices = new Memory("device");
const tab = new Memory("tab");

/**
 * @param {string} id
 * @returns {any} The element, which index.html is sure to have.
 */
const byId = (id) => document.getElementById(id);

export class SettingsDialog {
  /** @param {{onMicrophone: (deviceId: string) => void, onSpeaker: (deviceId: string) => void}} listener */
  constructor(listener) {
    /** @type {HTMLDialogElement} */
    this._dialog = byId("settings");
    /** @type {HTMLSelectElement} */
    this._microphone = byId("microphone");
    /** @type {HTMLSelectElement} */
    this._speaker = byId("speaker");
    /** @type {HTMLSelectElement} */
    this._voice = byId("voice");
    /** @type {HTMLSelectElement} */
    this._agent = byId("agent");
    this._agent.addEventListener("change", () => devices.set("agent", this._agent.value));
    this._voice.addEventListener("change", () => devices.set("voice", this._voice.value));
    byId("voice-hear").addEventListener("click", () => this._hear());
    /** @type {HTMLInputElement} */
    this._key = byId("key");
    this._key.value = tab.get("key");
    this._key.addEventListener("input", () => tab.set("key", this._key.value));
    // Not all browsers can choose the output device.
    byId("speaker-field").hidden = !("setSinkId" in AudioContext.prototype);
    for (const [select, told] of /** @type {const} */ ([
      [this._microphone, listener.onMicrophone],
      [this._speaker, listener.onSpeaker],
    ])) {
      select.addEventListener("change", () => {
        devices.set(select.id, select.value);
        told(select.value);
      });
    }
    byId("settings-open").addEventListener("click", () => this.open());
    navigator.mediaDevices?.addEventListener("devicechange", () => this.refresh());
  }

  /** @returns {Settings} */
  get chosen() {
    return {
      microphone: devices.get("microphone"),
      speaker: devices.get("speaker"),
      voice: devices.get("voice"),
      agent: devices.get("agent"),
      key: this._key.value.trim(),
    };
  }

  /** @param {string[]} names Of the agents to choose from, the server's own first. */
  offer(names) {
    byId("agent-field").hidden = names.length < 2;
    this._agent.replaceChildren(...names.map((name) => new Option(name, name)));
    if (!names.includes(devices.get("agent"))) devices.set("agent", "");
    this._agent.value = devices.get("agent") || names[0];
  }

  /** @param {boolean} [forKey] Whether to focus the field for the key. */
  async open(forKey = false) {
    // The server may take its time, or be gone; the devices can be chosen meanwhile.
    void this._listVoices();
    await this.refresh();
    if (!this._dialog.open) this._dialog.showModal();
    if (forKey) this._key.focus();
  }

  /** List the devices anew; browsers give their names only once the microphone has been allowed. */
  async refresh() {
    const found = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    fill(
      this._microphone,
      found.filter((device) => device.kind === "audioinput"),
      "Microphone",
    );
    fill(
      this._speaker,
      found.filter((device) => device.kind === "audiooutput"),
      "Loudspeaker",
    );
  }

  async _listVoices() {
    const names = await voices(this.chosen.key).catch(() => /** @type {string[]} */ ([]));
    const wanted = devices.get("voice");
    const options = names.map((name) => new Option(label(name), name));
    this._voice.replaceChildren(new Option("The agent's own", ""), ...options);
    // Keep the choice even if the server cannot be reached or wants a key, and so lists no voices.
    if (wanted && !names.includes(wanted)) this._voice.append(new Option(label(wanted), wanted));
    this._voice.value = wanted;
  }

  async _hear() {
    byId("voice-hear").disabled = true;
    const note = byId("voice-note");
    try {
      note.textContent = "From the next conversation on.";
      const { agent, key } = this.chosen;
      await hear(this._voice.value || ((await whoIsHere(key, agent))?.voice ?? ""), key);
    } catch (error) {
      note.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      byId("voice-hear").disabled = false;
    }
  }
}

/** @param {string} name Such as "hibari:heart". @returns {string} Such as "heart (hibari)". */
function label(name) {
  const [engine, voice] = name.split(":");
  return voice ? `${voice} (${engine})` : name;
}

/**
 * @param {HTMLSelectElement} select
 * @param {MediaDeviceInfo[]} found
 * @param {string} noun
 */
function fill(select, found, noun) {
  const named = found.filter(({ deviceId }) => deviceId && deviceId !== "default");
  const options = named.map(
    ({ deviceId, label }, i) => new Option(label || `${noun} ${i + 1}`, deviceId),
  );
  select.replaceChildren(new Option("System default", ""), ...options);
  const wanted = devices.get(select.id);
  if (wanted && !named.some(({ deviceId }) => deviceId === wanted)) {
    // Without this entry the device would still be requested, and the default could not be chosen.
    const known = found.some(({ deviceId }) => deviceId);
    select.append(new Option(known ? "As before (not connected)" : "As before", wanted));
  }
  select.value = wanted;
}
