// @ts-check
/** The settings dialog: microphone, loudspeaker, access key. Devices are remembered; the key is not. */

import { Memory } from "./memory.js";

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
      key: this._key.value.trim(),
    };
  }

  /** @param {boolean} [forKey] Whether it is the key that is wanted. */
  async open(forKey = false) {
    await this.refresh();
    if (!this._dialog.open) this._dialog.showModal();
    if (forKey) this._key.focus();
  }

  /** Read the devices anew; their names are known only once the microphone has been allowed. */
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
