import { accessSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ExpectedError, valueOr } from "../text/index.ts";
import { embedded } from "./embedded.ts";

/** The parts cannot be unpacked or used in their directory; the message gives the reason and the setting that helps. */
export class UnpackError extends ExpectedError {
  override readonly name = "UnpackError";
}

/** Version of this program, as `transcribe version` prints it. */
export const programVersion: string = packageJson.version;

/** The root of the checkout that the program runs from. */
export const checkout: string = resolve(import.meta.dir, "../..");

/** Whether this program is compiled into one file. */
export const isCompiled = embedded !== null;

/** Variable with which the launcher (native/launcher) passes on the path of the single file. */
const FILE_VARIABLE = "_TRANSCRIBE_FILE";

/** Path of the single file of a compiled program; null from source. */
export const programFile: string | null = isCompiled ? (process.env[FILE_VARIABLE] ?? null) : null;
delete process.env[FILE_VARIABLE];

/** The single file, opened at the start: an upgrade may put another one in its place. */
const openFile = programFile === null ? null : valueOr(() => openSync(programFile, "r"), null);

/**
 * Returns the single file, open for reading.
 * @throws {UnpackError} when this process has none
 */
export function ownFile(): number {
  if (openFile !== null) return openFile;
  throw new UnpackError(
    programFile === null
      ? `${process.execPath} is only an unpacked part of transcribe: start the file that unpacked it`
      : `this program's file, ${programFile}, cannot be read: check its rights, and start it again`,
  );
}

/** Returns the owner of this program: of the single file, or from source of the runtime. */
export function programOwner(): number {
  return (openFile === null ? statSync("/proc/self/exe") : fstatSync(openFile)).uid;
}

/** Advice for a missing or damaged part of the program, as the end of a sentence. */
export const renewal: string = isCompiled
  ? "unpack the program again with: transcribe doctor --fix"
  : "run scripts/setup";

/**
 * Returns the command line that starts this program again with other arguments. From source, the runtime's own path
 * comes first, followed by the entry file, because `process.argv[1]` would be a test runner's.
 */
export function ownCommand(...args: string[]): string[] {
  return isCompiled ? [ownExecutable(), ...args] : [ownExecutable(), join(checkout, "src/main.ts"), ...args];
}

/**
 * Returns the path of this executable. It may be unreachable by its own path: an upgrade removed it, the launcher started
 * it from memory, or this process dropped root's rights. The kernel's link still works.
 */
function ownExecutable(): string {
  try {
    accessSync(process.execPath, constants.X_OK);
    return process.execPath;
  } catch {
    return "/proc/self/exe";
  }
}
