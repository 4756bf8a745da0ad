// @ts-check
/**
 * Make an element. Text is only ever set as text, so nothing that was said can become markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {string | (Node | string)[]} [content]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, className = "", content = []) {
  const made = document.createElement(tag);
  made.className = className;
  made.append(...(typeof content === "string" ? [content] : content));
  return made;
}
