// @ts-check
/** Loads the parts of the page that run in the browser's audio thread. */

/**
 * @param {AudioContext} context
 * @param {string} file A path relative to this file.
 * @throws {Error} The server does not deliver it; the message is for the user.
 */
export async function addWorklet(context, file) {
  try {
    await context.audioWorklet.addModule(new URL(file, import.meta.url));
  } catch (error) {
    throw new Error("The server cannot be reached. Try again in a moment.", { cause: error });
  }
}
