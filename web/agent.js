// @ts-check
/** Who is here: the agent's name, what one may say to it, and what it has, as the server tells. */

import { element } from "./element.js";

/**
 * @typedef {object} Agent
 * @property {string} name
 * @property {string[]} examples
 * @property {{title: string, items: string[]}[]} offers
 * @property {string[]} agents Names of all that one may talk with, the server's own first.
 */

/** @param {unknown} value @returns {string[]} */
const texts = (value) =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];

/**
 * @param {string} key Of the server; empty for none.
 * @param {string} [wanted] The agent that was chosen; empty for the server's own.
 * @returns {Promise<Agent | null>} The server's own where the chosen one is not there any more; null
 *   where the server does not tell.
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
 * @param {(words: string) => void} say Called with an example that was chosen.
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
