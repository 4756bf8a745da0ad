// @ts-check
/** Lists the server's voices, and plays a sample of one. */

const SAMPLE = "Hello, this is how I sound. Your table is booked for seven thirty.";

/** @param {string} key @returns {Record<string, string>} */
const authorization = (key) => (key ? { Authorization: `Bearer ${key}` } : {});

/**
 * @param {string} key Of the server; empty for none.
 * @returns {Promise<string[]>} Names, the server's own first.
 * @throws {Error} The server does not list its voices.
 */
export async function voices(key) {
  const answer = await fetch("v1/audio/voices", { headers: authorization(key) });
  if (!answer.ok) throw new Error(`The server does not list its voices (${answer.status}).`);
  return (await answer.json()).data.map((/** @type {{id: string}} */ { id }) => id);
}

/**
 * Play a sentence in a voice.
 *
 * @param {string} voice Empty for the server's own.
 * @param {string} key Of the server; empty for none.
 * @returns {Promise<void>} Settles when it has been played.
 * @throws {Error} The server cannot say it, or this browser cannot play it.
 */
export async function hear(voice, key) {
  const answer = await fetch("v1/audio/speech", {
    method: "POST",
    headers: { "Content-Type": "application/json", ...authorization(key) },
    body: JSON.stringify({ input: SAMPLE, voice, response_format: "wav" }),
  });
  if (!answer.ok) throw new Error(`The server does not speak (${answer.status}).`);
  const context = new AudioContext();
  try {
    const source = context.createBufferSource();
    source.buffer = await context.decodeAudioData(await answer.arrayBuffer());
    source.connect(context.destination);
    const played = new Promise((resolve) => source.addEventListener("ended", resolve));
    source.start();
    await played;
  } finally {
    await context.close();
  }
}
