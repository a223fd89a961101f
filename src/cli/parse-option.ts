import { InvalidArgumentError } from "commander";
import { ExpectedError } from "../text/index.ts";
import { UsageError } from "./command-error.ts";

/** Parser of an option or an argument. Commander reports its {InvalidArgumentError} with the option's name. */
type Parser<T> = (text: string) => T;

/** Returns a parser that refuses what another function refuses with an {ExpectedError}, such as a rule for names. */
export function parsedBy<T>(parse: (text: string) => T): Parser<T> {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof ExpectedError ? new InvalidArgumentError(error.message) : error;
    }
  };
}

/** Returns a parser that accepts what a check accepts. */
export function checkedBy(check: (text: string) => void): Parser<string> {
  return parsedBy((text) => {
    check(text);
    return text;
  });
}

/** Returns a parser of an option or argument that can be repeated. */
export function each<T>(parse: Parser<T>): (text: string, before?: readonly T[]) => readonly T[] {
  return (text, before = []) => [...before, parse(text)];
}

/** Returns a parser that accepts an empty text, which means none. */
export function orEmpty(parse: Parser<string>): Parser<string> {
  return (text) => (text === "" ? text : parse(text));
}

/** Returns a parser of a list that is separated by commas, each item of which must be one of the choices. */
export function listOf<T extends string>(choices: readonly T[]): Parser<T[]> {
  return (text) => {
    const names = text.split(",").map((name) => name.trim());
    const found = names.map((name) => choices.find((choice) => choice === name));
    const unknown = found.indexOf(undefined);
    if (unknown < 0) return found.filter((choice) => choice !== undefined);
    throw new InvalidArgumentError(`"${names[unknown]}" is none of: ${choices.join(", ")}.`);
  };
}

/** Parses a text that must not be empty, such as a file's name. */
export function someText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text;
}

/** Parses the code of a language. Which codes are known depends on the model. */
export function languageCode(text: string): string {
  if (/^[a-z]{2,3}$/i.test(text.trim())) return text;
  throw new InvalidArgumentError("It takes an ISO code of two or three letters, such as en.");
}

/** Parses the id of a recording, a key or a voice. */
export function resourceId(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new InvalidArgumentError("It takes an id, as the list of them shows it.");
}

/** Parses the absolute path of a directory, without the slash at its end that shells add. */
export function absolutePath(text: string): string {
  if (!text.startsWith("/")) throw new InvalidArgumentError("It takes an absolute path, which begins with a slash.");
  return text.replace(/(?<=.)\/+$/, "");
}

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
/** Longest duration, a hundred years: no key lives longer, and a later time has no date. */
const MAX_DURATION_MILLISECONDS = 36_525 * 86_400_000;

/** Parses a duration such as `30m`, `12h` or `7d` to milliseconds. */
export function duration(text: string): number {
  const [, amount, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (units[unit] ?? Number.NaN);
  if (milliseconds <= MAX_DURATION_MILLISECONDS) return milliseconds;
  throw new InvalidArgumentError("It takes a duration of at most 36525d, such as 30m, 12h or 7d.");
}

const timeShape = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Parses a time to milliseconds since the epoch: a date or time in ISO 8601, or a duration from now. */
export function moment(text: string): number {
  if (/^\d+[mhd]$/.test(text)) return Date.now() + duration(text);
  const [, day = ""] = timeShape.exec(text) ?? [];
  const time = isDay(day) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new InvalidArgumentError("It takes a time such as 2026-12-31, 2026-12-31T12:00:00Z, or 90d from now.");
}

/** Parses a time as `moment` does, which must not be over. */
export function futureMoment(text: string): number {
  const time = moment(text);
  if (time > Date.now()) return time;
  throw new InvalidArgumentError("This time is over; it takes a time in the future.");
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

/** Returns the origin and path of a server's address without its final slash. @throws {UsageError} if it is invalid */
export function serverAddress(address: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.search !== "" || url.hash !== "") {
    // Commander's message would have the URL, which may contain a password.
    throw new UsageError("--server takes an address such as https://transcribe.example.org");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}
