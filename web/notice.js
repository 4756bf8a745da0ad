// @ts-check
/** The one place where the page says what is wrong and what the user can do. */

export class Notice {
  /** @param {(id: string) => any} byId */
  constructor(byId) {
    /** @type {HTMLElement} */
    this._box = byId("notice");
    /** @type {HTMLElement} */
    this._text = byId("notice-text");
    /** @type {HTMLButtonElement} */
    this._action = byId("notice-action");
    /** @type {HTMLElement} */
    this._next = byId("scroller");
    byId("notice-close").addEventListener("click", () => this.hide());
  }

  /**
   * @param {string} message
   * @param {{label: string, run: () => void}} [action]
   */
  show(message, action) {
    // A screen reader must not repeat a message that comes again, as at each attempt to connect.
    if (this._text.textContent !== message) this._text.textContent = message;
    this._action.hidden = !action;
    this._action.textContent = action?.label ?? "";
    this._action.onclick = action?.run ?? null;
    this._box.hidden = false;
  }

  hide() {
    // The focus must not go with a button that is hidden.
    if (this._box.contains(document.activeElement)) this._next.focus();
    this._box.hidden = true;
  }
}
