// @ts-check
/** Loads the parts of the page that run beside it, in the browser's thread for sound. */

/**
 * @param {AudioContext} context
 * @param {string} file Beside this one.
 * @throws {Error} The server does not give it; the message tells the user.
 */
export async function addWorklet(context, file) {
  try {
    await context.audioWorklet.addModule(new URL(file, import.meta.url));
  } catch (error) {
    throw new Error("The server cannot be reached. Try again in a moment.", { cause: error });
  }
}
