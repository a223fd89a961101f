import { messageOf } from "../../text/index.ts";

/** Runs a function that loads a model natively. @throws {Error} with a hint for the user */
export function loadNatively<T>(family: string, path: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    throw new Error(
      `cannot load the ${family} model ${path}: ${messageOf(error)}. ` +
        'Check the file with "transcribe models verify"; if it is whole, free memory or choose a smaller model',
    );
  }
}

/** Returns a number of threads that native code accepts. @throws {RangeError} if it is no whole number from 1 */
export function checkThreads(threads: number): number {
  if (Number.isInteger(threads) && threads >= 1) return threads;
  throw new RangeError(`the number of threads must be a whole number from 1, not ${threads}`);
}
