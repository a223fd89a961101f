import pino, { type Logger } from "pino";

export type { Logger } from "pino";

const MAX_BUFFERED_BYTES = 1024 * 1024;

/**
 * Creates a logger that writes JSON lines to standard error. They hold `event`, ids and durations; never a key, a file
 * name or spoken text. Standard output is reserved for the output of commands. Lines that can't be written, e.g. to a
 * full disk, are buffered up to `MAX_BUFFERED_BYTES`. Lines beyond that are lost.
 */
export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: MAX_BUFFERED_BYTES });
  destination.on("error", () => {});
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // No log call passes a key, but an error's text or a client's request id might contain one.
      hooks: { streamWrite: (line) => line.replace(/trs_\w{8,}/g, "trs_***") },
    },
    destination,
  );
}
