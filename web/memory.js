// @ts-check
/** What the page remembers: in the browser's storage, or, if that is blocked, while it is open. */

/** Functions, because merely naming a storage throws where the user blocks site data. */
const STORES = {
  device: () => localStorage,
  tab: () => sessionStorage,
};

export class Memory {
  /** @param {"device" | "tab"} span Kept on this device, or until the tab is closed. */
  constructor(span) {
    this._store = STORES[span];
    /** @type {Map<string, string>} */
    this._here = new Map();
  }

  /** @param {string} name @returns {string} Empty if nothing is stored. */
  get(name) {
    const here = this._here.get(name);
    if (here !== undefined) return here;
    try {
      return this._store().getItem(name) ?? "";
    } catch {
      return "";
    }
  }

  /** @param {string} name @param {string} value */
  set(name, value) {
    this._here.set(name, value);
    try {
      this._store().setItem(name, value);
    } catch {
      // The value is kept in memory, for as long as the page is open.
    }
  }
}
