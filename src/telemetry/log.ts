import pino, { type Logger } from "pino";

export type { Logger } from "pino";

const keptBytes = 1024 * 1024;

/**
 * A log of JSON lines on standard error: `event`, ids and durations; never a key, a file's name or spoken text.
 * Standard output stays free for what commands print. Lines that can't be written, e.g. to a full disk, are kept until they
 * can, as many as there is room for; those after them are lost, and the process goes on.
 */
export function createLogger(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true, maxLength: keptBytes });
  destination.on("error", () => {});
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // No line is meant to hold a key; an error's text or a client's request id might.
      hooks: { streamWrite: (line) => line.replace(/trs_\w{8,}/g, "trs_***") },
    },
    destination,
  );
}
