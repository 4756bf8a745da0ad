// @ts-check
/** The one place where the page says that something is wrong, and what can be done. */

export class Notice {
  /** @param {(id: string) => any} byId */
  constructor(byId) {
    /** @type {HTMLElement} */
    this._box = byId("notice");
    /** @type {HTMLElement} */
    this._text = byId("notice-text");
    /** @type {HTMLButtonElement} */
    this._action = byId("notice-action");
    byId("notice-close").addEventListener("click", () => this.hide());
  }

  /**
   * @param {string} message
   * @param {{label: string, run: () => void}} [action]
   */
  show(message, action) {
    // A repeated message, as at each attempt to connect, is not read out again.
    if (this._text.textContent !== message) this._text.textContent = message;
    this._action.hidden = !action;
    this._action.textContent = action?.label ?? "";
    this._action.onclick = action?.run ?? null;
    this._box.hidden = false;
  }

  hide() {
    this._box.hidden = true;
  }
}
