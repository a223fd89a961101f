import { constants } from "node:fs";
import { type FileHandle, mkdtemp, open, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isatty } from "node:tty";
import { Argument, InvalidArgumentError } from "commander";
import { writeAll } from "../files/index.ts";
import { codeOf, messageOf, orAborted, size } from "../text/index.ts";
import { basename, join, systemPath, withAnyName } from "./byte-names.ts";
import { CommandError, UsageError } from "./command-error.ts";
import { isLink, someText } from "./parse-option.ts";

/** The word of a command line for a recording that is read from standard input. */
export const STANDARD_INPUT = "-";
/** Largest recording from standard input: no server accepts a larger one (limits.upload_bytes). */
const MAX_INPUT_BYTES = 64 * 1024 ** 3;
/** Name of a recording from standard input, as the client package names a recording without a name. */
const DEFAULT_NAME = "recording";

/** A recording of a command line. */
export interface RecordingInput {
  /** A file's path, an http(s) link, or `-`. */
  readonly input: string;
  /** Its name for people. */
  readonly shown: string;
  /** Its file name for the server and for the file of its transcript; a link has none of its own. */
  readonly name: string;
}

/** Returns an argument for one recording, whose file name need not be UTF-8. */
export function fileArgument(flags: string, description: string): Argument {
  return withAnyName(new Argument(flags, description).argParser(fileOf));
}

/** Returns an argument for several recordings: files, standard input and, with `links`, http(s) links. */
export function recordingsArgument(flags: string, description: string, { links }: { links: boolean }): Argument {
  const parse = (text: string) => (links && isLink(text) ? linkOf(text) : fileOf(text));
  return withAnyName(
    new Argument(flags, description).argParser<string[]>((text, before = []) => [...before, parse(text)]),
  );
}

function linkOf(text: string): string {
  if (URL.canParse(text)) return text;
  throw new InvalidArgumentError("It is not a link such as https://media.example.org/talk.mp3.");
}

function fileOf(text: string): string {
  if (!isLink(text)) return someText(text);
  throw new InvalidArgumentError("It takes a file; a server downloads links: transcribe submit LINK.");
}

/** Parses the name of a recording from standard input. */
export function recordingName(text: string): string {
  if (text.trim() !== "" && text.length <= 255 && !/[/\p{Cc}]/u.test(text)) return text;
  throw new InvalidArgumentError("It takes a file name without slashes, such as meeting.m4a.");
}

/**
 * Returns the recordings of a command line.
 * @param name the name of the one from standard input
 * @throws {UsageError} when several are read from standard input or it is a terminal, or the name has no recording
 */
export function recordingsOf(inputs: readonly string[], name: string | undefined): RecordingInput[] {
  const streams = inputs.filter((input) => input === STANDARD_INPUT).length;
  if (streams > 1) throw new UsageError("standard input has one recording; write - once");
  if (streams === 0 && name !== undefined) throw new UsageError("--name is for a recording from standard input, -");
  return inputs.map((input) => recordingOf(input, name));
}

/** Returns a recording of a command line. @throws {UsageError} for standard input that is a terminal */
export function recordingOf(input: string, name?: string): RecordingInput {
  if (input !== STANDARD_INPUT) return { input, shown: input, name: isLink(input) ? input : basename(input) };
  if (isatty(0))
    throw new UsageError("standard input is a terminal; name a file, or pipe a recording into the command");
  return { input, shown: name ?? "standard input", name: name ?? DEFAULT_NAME };
}

/** Checks that a file can be read, before a command starts its work. @throws {CommandError} */
export async function requireRecording(input: string): Promise<void> {
  if (input !== STANDARD_INPUT) await (await openReadable(input)).close();
}

/** A recording that is open for reading. Disposing closes it. */
interface OpenedRecording extends AsyncDisposable {
  /** A path that this process can open, any number of times; a link for a link. */
  readonly path: string;
}

/**
 * Opens a recording. Standard input can be read once only, so it is stored first, in a file without a name that
 * disappears with this process: a request that fails can be repeated.
 * @throws {CommandError} when it can't be read, or is not a regular file @throws the signal's reason
 */
export async function openRecording(input: string, signal: AbortSignal): Promise<OpenedRecording> {
  if (isLink(input)) return { path: input, [Symbol.asyncDispose]: async () => {} };
  const file = input === STANDARD_INPUT ? await openStored(signal) : await openReadable(input);
  const hasPath = input !== STANDARD_INPUT && input.isWellFormed();
  return { path: hasPath ? input : `/proc/self/fd/${file.fd}`, [Symbol.asyncDispose]: () => file.close() };
}

async function openStored(signal: AbortSignal): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), "transcribe-input-")).catch(refuseToStore);
  const file = await open(join(directory, "recording"), "wx+", 0o600)
    .catch(refuseToStore)
    .finally(() => rm(directory, { recursive: true, force: true }));
  try {
    await storeStandardInput(file, signal);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Returns the path of a file for a program that this one starts; standard input is stored in the directory. */
export async function pathForProgram(input: string, directory: string, signal: AbortSignal): Promise<string | Buffer> {
  await requireRecording(input);
  // As bytes, because the name of the current directory need not be UTF-8 either.
  if (input !== STANDARD_INPUT) return await realpath(systemPath(input), "buffer");
  const path = join(directory, "standard-input");
  await using file = await open(path, "wx", 0o600).catch(refuseToStore);
  await storeStandardInput(file, signal);
  return path;
}

/** Copies standard input to a file. @throws {CommandError} when it is empty, too large or can't be read or stored */
async function storeStandardInput(file: FileHandle, signal: AbortSignal): Promise<void> {
  let bytes = 0;
  for await (const chunk of chunksOfStandardInput(signal)) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) throw new CommandError(`standard input has more than ${size(MAX_INPUT_BYTES)}`);
    try {
      writeAll(file.fd, chunk);
    } catch (error) {
      refuseToStore(error);
    }
  }
  if (bytes === 0) throw new CommandError("standard input is empty; pipe a recording into the command");
}

/** Reads standard input. @throws {CommandError} @throws the signal's reason */
export async function* chunksOfStandardInput(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let stop: () => Promise<void> = async () => {};
  try {
    const reader = Bun.stdin.stream().getReader();
    stop = () => reader.cancel();
    for (;;) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new CommandError(`can't read standard input: ${messageOf(error)}`);
  } finally {
    // A pending read would keep the process alive.
    void stop().catch(() => {});
  }
}

function refuseToStore(error: unknown): never {
  throw new CommandError(
    `can't store standard input in ${tmpdir()}: ${messageOf(error)}; name another directory: TMPDIR=DIRECTORY`,
  );
}

/** @throws {CommandError} when a recording can't be read, or is not a regular file */
async function openReadable(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK, opening a pipe without a writer would block forever.
    file = await open(systemPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new CommandError(`there is no file ${path}`);
    throw new CommandError(`can't read ${path}: ${code === "EACCES" ? "you lack the permission" : messageOf(error)}`);
  }
  const stat = await file.stat();
  if (stat.isFile()) return file;
  await file.close();
  if (stat.isDirectory()) throw new CommandError(`${path} is a directory; name recordings`);
  throw new CommandError(`${path} is not a regular file; name recordings, or pipe one and write - for it`);
}
