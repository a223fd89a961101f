import { parseArgs } from "node:util";
import { messageOf } from "../../src/text/index.ts";

/** An invalid command line. The message names the option or the argument. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An option of a command, with the type of its value. */
export interface Option<T> {
  /** Description for the usage, without a full stop. */
  readonly does: string;
  /** Name of the value in the usage; null for an option without a value. */
  readonly placeholder: string | null;
  /** Returns the value from the texts that were given for it; none when the option was not given. @throws {UsageError} */
  readonly read: (given: readonly string[], name: string) => T;
}

/** Options by their names in camel case: `atOnce` is `--at-once` on the command line. */
export type Options = Readonly<Record<string, Option<unknown>>>;

export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

export function flag(does: string): Option<boolean> {
  return { does, placeholder: null, read: (given) => given.length > 0 };
}

/** Declares a text; null when it is not given and has no fallback. */
export function text(placeholder: string, does: string): Option<string | null>;
export function text(placeholder: string, does: string, fallback: string): Option<string>;
export function text(placeholder: string, does: string, fallback: string | null = null): Option<string | null> {
  return { does, placeholder, read: (given) => given.at(-1) ?? fallback };
}

/** Declares an option that may be given several times. */
export function texts(placeholder: string, does: string): Option<readonly string[]> {
  return { does: `${does}; repeatable`, placeholder, read: (given) => given };
}

/** Declares a whole number. @param least smallest number that is allowed */
export function whole(does: string, { least = 1, fallback }: { least?: number; fallback: number }): Option<number> {
  return {
    does: `${does} (default: ${fallback})`,
    placeholder: "N",
    read: (given, name) => readWhole(given.at(-1) ?? String(fallback), name, least),
  };
}

/** Declares whole numbers, all of `fallback` by default. @param least smallest number that is allowed */
export function wholes(does: string, { least = 1, fallback }: { least?: number; fallback: readonly number[] }) {
  const read = (given: readonly string[], name: string): readonly number[] =>
    given.length === 0 ? fallback : given.map((each) => readWhole(each, name, least));
  return { does: `${does}; repeatable (default: ${fallback.join(", ")})`, placeholder: "N", read };
}

function readWhole(given: string, name: string, least: number): number {
  if (!/^\d{1,15}$/.test(given) || Number(given) < least) {
    throw new UsageError(`${name} is a whole number from ${least}, not ${given}`);
  }
  return Number(given);
}

/** Declares a number above 0; null when it is not given. */
export function positive(does: string): Option<number | null> {
  const read = (given: readonly string[], name: string) => {
    const last = given.at(-1);
    if (last !== undefined && !(Number(last) > 0)) throw new UsageError(`${name} is a number above 0, not ${last}`);
    return last === undefined ? null : Number(last);
  };
  return { does, placeholder: "N", read };
}

/** Declares a choice of one name. */
export function oneOf<T extends string>(
  placeholder: string,
  does: string,
  { names, fallback }: { names: readonly T[]; fallback: NoInfer<T> },
): Option<T> {
  return {
    does: `${does}: ${listOf(names)} (default: ${fallback})`,
    placeholder,
    read: (given, name) => readName(given.at(-1) ?? fallback, name, names),
  };
}

/** Declares a choice of several names, all of them by default. */
export function someOf<T extends string>(placeholder: string, does: string, names: readonly T[]): Option<readonly T[]> {
  return {
    does: `${does}: ${listOf(names)}; repeatable (default: all)`,
    placeholder,
    read: (given, name) => (given.length === 0 ? names : given.map((each) => readName(each, name, names))),
  };
}

/** Returns the name that equals a given text. @param what the option or argument that needs one of the names */
export function readName<T extends string>(given: string, what: string, names: readonly T[]): T {
  const found = names.find((name) => name === given);
  if (found === undefined) throw new UsageError(`${what} is ${listOf(names)}, not ${given}`);
  return found;
}

const listFormat = new Intl.ListFormat("en", { type: "disjunction" });

function listOf(names: readonly string[]): string {
  return listFormat.format(names).replace(", or ", " or ");
}

export function nameOnCommandLine(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Parses a command line with declared options.
 * @param allowsNames whether arguments other than options are allowed
 * @throws {UsageError} when an option is unknown or has an invalid value
 */
export function readArguments<O extends Options>(args: readonly string[], options: O, allowsNames: boolean) {
  const named = Object.entries(options).map(([key, option]) => [key, nameOnCommandLine(key), option] as const);
  const declared = named.map(([, name, { placeholder }]) => {
    return [name.slice(2), { type: placeholder === null ? "boolean" : "string", multiple: true }] as const;
  });
  const { values, positionals } = parse([...args], Object.fromEntries(declared), allowsNames);
  const read = named.map(([key, name, option]) => [key, option.read((values[name.slice(2)] ?? []).map(String), name)]);
  return { values: Object.fromEntries(read) as Values<O>, names: positionals };
}

type Declared = Readonly<Record<string, { readonly type: "boolean" | "string"; readonly multiple: true }>>;

function parse(args: string[], options: Declared, allowPositionals: boolean) {
  try {
    return parseArgs({ args, options, allowPositionals });
  } catch (error) {
    // The sentences after the first one explain arguments that begin with a dash, which no name does.
    throw new UsageError(messageOf(error).split(". ")[0]);
  }
}
