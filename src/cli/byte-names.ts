import { readFileSync } from "node:fs";
import path from "node:path";
import type { Argument, Command, Option } from "commander";
import { valueOr } from "../text/index.ts";
import { UsageError } from "./command-error.ts";

// On Linux, a file's name is a sequence of bytes that need not be UTF-8. The runtime replaces such bytes in arguments by
// U+FFFD, which names no file. Here, a byte 0x80 to 0xFF that is not UTF-8 becomes the surrogate U+DC80 to U+DCFF, as in
// Python (PEP 383, surrogateescape). No valid text has a surrogate alone, so the bytes can be restored. When such a name
// is printed or sent, each of these surrogates becomes U+FFFD.

/** Matches the bytes of valid UTF-8 (RFC 3629, section 4) in a text that has one character for each byte. */
const utf8 =
  /(?:[\0-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})+|[\x80-\xff]/g;

/** Decodes a name so that `systemPath` can restore it. */
export function decodeName(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(utf8, (part) => {
      const isByte = part.length === 1 && part > "\x7f";
      return isByte ? String.fromCharCode(0xdc00 + part.charCodeAt(0)) : Buffer.from(part, "latin1").toString("utf8");
    });
}

/** Returns a function on paths for decoded names. Those of node:path replace a surrogate that is alone. */
function onNames<Parts extends string[]>(operation: (...parts: Parts) => string): (...parts: Parts) => string {
  const asBytes = (part: string) => Buffer.from(systemPath(part)).toString("latin1");
  return (...parts) => {
    if (parts.every((part) => part.isWellFormed())) return operation(...parts);
    return decodeName(Buffer.from(operation(...(parts.map(asBytes) as Parts)), "latin1"));
  };
}

export const basename = onNames(path.posix.basename);
export const dirname = onNames(path.posix.dirname);
export const extname = onNames(path.posix.extname);
export const join = onNames(path.posix.join);

/** Returns a decoded name in the form that the functions of the file system take: bytes, if it is not UTF-8. */
export function systemPath(name: string): string | Buffer {
  if (name.isWellFormed()) return name;
  const parts = name.match(/[\udc80-\udcff]|[^\udc80-\udcff]+/gu) ?? [];
  return Buffer.concat(
    parts.map((part) => (part.isWellFormed() ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) & 0xff))),
  );
}

/**
 * Returns the arguments of this process with the bytes that the runtime replaced.
 * @param args the arguments as the runtime decoded them, which are the last ones of the command line
 * @param commandLine the bytes of the command line, each argument with a zero byte at its end
 */
export function decodedArguments(args: readonly string[], commandLine: () => Uint8Array = ownCommandLine): string[] {
  if (args.every((arg) => !arg.includes("\u{fffd}"))) return [...args];
  const decoded = decodeName(commandLine()).split("\0").slice(0, -1).slice(-args.length);
  return args.map((arg, index) => {
    const own = decoded[index] ?? arg;
    return own.isWellFormed() ? arg : own;
  });
}

const ownCommandLine = () => valueOr(() => readFileSync("/proc/self/cmdline"), new Uint8Array());

const accepting = new WeakSet<Argument | Option>();

/** Marks an argument or option whose names of files need not be UTF-8, because its command opens `systemPath`s. */
export function withAnyName<T extends Argument | Option>(declared: T): T {
  accepting.add(declared);
  return declared;
}

/** Checks the words of a command line. @throws {UsageError} for bytes that are not UTF-8 where only text is accepted */
export function requireText(command: Command): void {
  const options = command.options.map(
    (option) => [option, option.long, command.opts()[option.attributeName()]] as const,
  );
  const operands = command.registeredArguments.map(
    (argument, index) => [argument, `the argument ${argument.name()}`, command.processedArgs[index]] as const,
  );
  for (const [declared, name, value] of [...options, ...operands]) {
    const texts = [value].flat().filter((each) => typeof each === "string");
    if (accepting.has(declared) || texts.every((text) => text.isWellFormed())) continue;
    const wrong = texts.find((text) => !text.isWellFormed());
    throw new UsageError(`${name}: "${wrong}" is not UTF-8; write it in UTF-8, or rename the file`);
  }
}
