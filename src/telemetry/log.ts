import pino, { type Logger } from "pino";

export type { Logger } from "pino";

/**
 * A log of JSON lines on standard error: `event`, ids and durations; never a key, a file's name or spoken text.
 * Standard output stays free for what commands print.
 */
export function createLogger(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
