// @ts-check
/** The agent as the server describes it: its name, examples of what to say, and what it offers. */

import { element } from "./element.js";

/**
 * @typedef {object} Agent
 * @property {string} name
 * @property {string} voice Its own; empty for the server's.
 * @property {string[]} examples
 * @property {{title: string, items: string[]}[]} offers
 * @property {string[]} agents Names of all agents to choose from, the server's own first.
 */

/** @param {unknown} value @returns {string[]} */
const texts = (value) =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

/**
 * @param {string} key The server's key; empty for none.
 * @param {string} [wanted] The chosen agent; empty for the server's own.
 * @returns {Promise<Agent | null>} The server's own agent if the chosen one no longer exists; null
 *   if the server does not describe its agent.
 */
export async function whoIsHere(key, wanted = "") {
  const headers = key ? { Authorization: `Bearer ${key}` } : undefined;
  const query = wanted ? `?${new URLSearchParams({ agent: wanted })}` : "";
  const answer = await fetch(`v1/agent${query}`, { headers }).catch(() => null);
  if (answer?.status === 400 && wanted) return whoIsHere(key);
  const told = answer?.ok ? await answer.json().catch(() => null) : null;
  if (typeof told?.name !== "string") return null;
  const offers = Array.isArray(told.offers) ? told.offers : [];
  return {
    name: told.name,
    voice: String(told.voice ?? ""),
    agents: texts(told.agents),
    examples: texts(told.examples),
    offers: offers.map((/** @type {any} */ each) => ({
      title: String(each?.title ?? ""),
      items: texts(each?.items),
    })),
  };
}

/**
 * @param {Agent} agent
 * @param {(words: string) => void} say Called with the example that the user chose.
 * @returns {HTMLElement[]}
 */
export function introduction({ examples, offers }, say) {
  const buttons = examples.map((words) => {
    const made = element("button", "example", words);
    made.type = "button";
    made.addEventListener("click", () => say(words));
    return made;
  });
  const folded = offers.map(({ title, items }) =>
    element("details", "offer", [
      element("summary", "", title),
      element(
        "ul",
        "",
        items.map((item) => element("li", "", item)),
      ),
    ]),
  );
  return [...(buttons.length > 0 ? [element("div", "examples", buttons)] : []), ...folded];
}
