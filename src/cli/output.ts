import { exitCodes } from "./command-error.ts";
import { escapedJson, printable } from "./printable.ts";

/** The option of every reading command. */
export interface JsonOption {
  readonly json?: boolean;
}

/** Prints a command's result: as JSON for programs, or as text for people. */
export function print({ json }: JsonOption, value: unknown, forPeople: () => string): void {
  process.stdout.write(`${json === true ? escapedJson(value) : forPeople()}\n`);
}

/** Formats a table of the items; each column is as wide as its longest cell. Without items, returns `ifEmpty`. */
export function table<T>(
  items: readonly T[],
  columns: Readonly<Record<string, (item: T) => string>>,
  ifEmpty: string,
): string {
  if (items.length === 0) return ifEmpty;
  const rows = [Object.keys(columns), ...items.map((item) => Object.values(columns).map((cell) => cell(item)))];
  const widths = Object.keys(columns).map((_, column) =>
    rows.reduce((widest, row) => Math.max(widest, Bun.stringWidth(row[column] ?? "")), 0),
  );
  const padded = (cell: string, column: number) => cell + " ".repeat((widths[column] ?? 0) - Bun.stringWidth(cell));
  return rows.map((row) => row.map(padded).join("  ").trimEnd()).join("\n");
}

/** Prints a list: as JSON for programs, or as a table for people, with `ifEmpty` in the place of an empty one. */
export function printTable<T>(
  options: JsonOption,
  items: readonly T[],
  toJson: (item: T) => unknown,
  ifEmpty: string,
  columns: Readonly<Record<string, (item: T) => string>>,
): void {
  print(
    options,
    items.map((item) => toJson(item)),
    () => table(items, columns, ifEmpty),
  );
}

/** Formats names and untrusted values, one pair per line; a missing value becomes a dash. */
export function facts(values: Readonly<Record<string, string | number | null | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(18)}${printable(String(value ?? "-"))}`)
    .join("\n");
}

/** Formats a time in ISO 8601, for programs. */
export function date(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Formats a time in ISO 8601, for programs; null stays null. */
export function optionalDate(milliseconds: number | null): string | null {
  return milliseconds === null ? null : date(milliseconds);
}

/** Formats a time for people, e.g. `2026-12-31 12:00:00 UTC`; null becomes a dash. */
export function readableTime(time: number | string | null): string {
  return time === null ? "-" : new Date(time).toISOString().replace(/^(.+)T(.+)\.\d+Z$/, "$1 $2 UTC");
}

/** Exit code after SIGPIPE: 128 plus the signal's number, as in shells. */
const EXIT_BROKEN_PIPE = 141;

/**
 * Exits the process when standard output can't be written. Prints the reason, except when the reader of a pipe exited:
 * then it exits silently, like other programs in a pipe. Errors of standard error are ignored.
 */
export function watchOutput(): void {
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(EXIT_BROKEN_PIPE);
    process.stderr.write(`transcribe: standard output can't be written: ${message}\n`);
    process.exit(exitCodes.failed);
  });
  process.stderr.on("error", () => {});
}
