// @ts-check
/** Saves a conversation as a file, as text or with all that the page knows, without a server. */

import { inPlainWords } from "./plain-words.js";

/** @typedef {import("./conversation.js").Turn} Turn */
/** @typedef {import("./conversation.js").Reply} Reply */

/** @param {Reply} reply @returns {string[]} */
function linesOf({ tools, text, heard, interrupted, failure }) {
  const used = tools.map(
    (use) => `  [${inPlainWords(use.name, use.arguments)}${use.result ? `: ${use.result}` : ""}]`,
  );
  const said = interrupted ? text.slice(0, heard).trim() : text.trim();
  const lines = said ? [...used, `Agent: ${said}${interrupted ? " – (interrupted)" : ""}`] : used;
  return failure ? [...lines, `  (${failure})`] : lines;
}

/** @param {Turn[]} turns @returns {string} */
export function asText(turns) {
  const blocks = turns.map(({ user, replies }) => [
    ...(user?.text ? [`You: ${user.text}`] : []),
    ...replies.flatMap(linesOf),
  ]);
  return `${blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

/** @param {Turn[]} turns @returns {string} */
export function asJson(turns) {
  return `${JSON.stringify({ turns }, null, 2)}\n`;
}

/** @param {string} name @param {string} type @param {BlobPart} content */
export function save(name, type, content) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = Object.assign(document.createElement("a"), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
