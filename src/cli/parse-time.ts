import { CommandError } from "./command-error.ts";

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30m`, `12h` or `7d` to milliseconds. @throws {CommandError} when it is invalid */
export function parseDuration(text: string): number {
  const [, amount, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (units[unit] ?? Number.NaN);
  if (Number.isNaN(milliseconds)) throw new CommandError(`"${text}" is no length of time; write 30m, 12h or 7d`);
  return milliseconds;
}

/** Parses a time: a date or time in ISO 8601, or a duration from now. @throws {CommandError} when it is invalid */
export function parseMoment(text: string, now: number): number {
  if (/^\d+[mhd]$/.test(text)) return now + parseDuration(text);
  const time = isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new CommandError(`"${text}" is no time; write 2026-12-31, 2026-12-31T12:00:00Z or 90d`);
  return time;
}

/** Returns whether a day exists. `Date` does not check this: it converts 30 February to 2 March. */
function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
