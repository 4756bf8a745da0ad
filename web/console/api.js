// @ts-check
/** Asks the server, with the operator's key in a header, since addresses may be logged. */

/** A request failed; the message says why, and `signIn` is true if another key may help. */
export class Refused extends Error {
  /** @param {string} message @param {boolean} signIn */
  constructor(message, signIn) {
    super(message);
    this.signIn = signIn;
  }
}

/** @type {Record<number, string>} */
const REASONS = {
  401: "The key is wrong.",
  403: "This needs the server's own key. A server without a key shows the console to nobody: set QUICKSILVER_API_KEY.",
};

/**
 * @param {string} path Below /v1/conversations, such as "/live".
 * @param {string} key
 * @param {Record<string, string>} [query] Empty values are left out.
 * @returns {Promise<Response>}
 * @throws {Refused} The server cannot be reached, or refuses.
 */
export async function ask(path, key, query = {}) {
  const wanted = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  const headers = { Authorization: `Bearer ${key}` };
  const address = `../v1/conversations${path}?${wanted}`;
  const answer = await fetch(address, { headers, cache: "no-store" }).catch(() => null);
  if (!answer) throw new Refused("The server cannot be reached.", false);
  if (answer.ok) return answer;
  const error = (await answer.json().catch(() => null))?.error;
  const off = "This server keeps no conversations: start it with --set records.keep_days=30.";
  const told = error?.code === "not_routed" ? off : (REASONS[answer.status] ?? error?.message);
  throw new Refused(told ?? `The server answers ${answer.status}.`, answer.status in REASONS);
}

/** @param {string} path @param {string} key @param {Record<string, string>} [query] */
export const askJson = async (path, key, query) => (await ask(path, key, query)).json();
