import { InvalidArgumentError } from "commander";
import { CommandError, exitCodes } from "./command-error.ts";

/** Parses an option that takes a whole number, which may be negative. */
export function wholeNumber(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError("It takes a whole number.");
  return Number(text);
}

/** Parses an option that takes a positive whole number, such as a number of items. */
export function positiveNumber(text: string): number {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError("It takes a whole number of at least 1.");
  return number;
}

/** Parses an option that takes a TCP port. */
export function portNumber(text: string): number {
  const number = positiveNumber(text);
  if (number > 65_535) throw new InvalidArgumentError("It takes a port from 1 to 65535.");
  return number;
}

/** Parses an option that takes a pause in seconds, with optional decimals. */
export function seconds(text: string): number {
  const number = /^\d{0,6}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new InvalidArgumentError("It takes a number of seconds above 0.");
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses a duration such as `30m`, `12h` or `7d` to milliseconds. @throws {CommandError} when it is invalid */
export function parseDuration(text: string): number {
  const [, amount, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (units[unit] ?? Number.NaN);
  if (Number.isNaN(milliseconds)) throw new CommandError(`"${text}" is not a duration; write 30m, 12h or 7d`);
  return milliseconds;
}

/** Parses a time: a date or time in ISO 8601, or a duration from now. @throws {CommandError} when it is invalid */
export function parseMoment(text: string, now: number): number {
  if (/^\d+[mhd]$/.test(text)) return now + parseDuration(text);
  const time = isDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new CommandError(`"${text}" is not a time; write 2026-12-31, 2026-12-31T12:00:00Z or 90d`);
}

/** Returns whether a day exists. `Date` does not check this: it converts 30 February to 2 March. */
function isDay(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Returns whether an input of the command line is a URL rather than a file. */
export function isLink(input: string): boolean {
  return /^https?:\/\//i.test(input);
}

/** Returns the origin and path of a server's address without its final slash. @throws {CommandError} if it is invalid */
export function serverAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    // The message omits the URL, because it may contain a password.
    throw new CommandError("--server takes an address such as https://transcribe.example.org", exitCodes.usage);
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
