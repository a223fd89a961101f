import { randomUUID } from "node:crypto";
import { mkdirSync, statSync } from "node:fs";
import { link, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { Value } from "@sinclair/typebox/value";
import { type Command, Option } from "commander";
import {
  type ExportFormat,
  exportExtension,
  exportFormatSchema,
  exportFormats,
  isTextFormat,
} from "../exports/index.ts";
import { codeOf, messageOf, valueOr } from "../text/index.ts";
import { basename, dirname, extname, join, systemPath, withAnyName } from "./byte-names.ts";
import { CommandError, UsageError } from "./command-error.ts";
import type { JsonOption } from "./output.ts";
import { isLink, someText } from "./parse-option.ts";
import { fitted, printableText, withoutControls } from "./printable.ts";

/** Options that decide where transcripts go. With `--json`, standard output has no place for them. */
export interface OutputOptions extends JsonOption {
  /** A file, a directory, or `-`. */
  readonly output?: string;
  readonly format?: ExportFormat | undefined;
  /** Whether an existing file may be overwritten. */
  readonly force?: boolean;
}

/** Adds the options for destination and format of transcripts, which `planOutputs` takes. */
export function addOutputOptions(command: Command): Command {
  return command
    .addOption(new Option("--format <format>", "file format of the transcripts").choices(exportFormats))
    .addOption(outputOption("a file, or DIRECTORY/, for the transcripts; - is standard output"))
    .option("--force", "overwrite existing files");
}

/** Returns the option for the destination of transcripts, whose file name need not be UTF-8. */
export function outputOption(description: string): Option {
  return withAnyName(new Option("-o, --output <path>", description).argParser(someText));
}

/** Destination of one transcript: a file's path, or standard output. */
export interface Output {
  readonly format: ExportFormat;
  readonly path: string;
}

/** Path that denotes standard output. */
export const standardOutput = "-";

/**
 * Determines the destination of each recording's transcript, before any recording is sent.
 * @param names file paths or URLs of the recordings
 * @returns null for each name if neither a format nor an output was requested
 * @throws {UsageError} when destinations collide, or standard output can't take the transcript
 * @throws {CommandError} when a file exists, or a directory is missing
 */
export function planOutputs(
  names: readonly string[],
  { output, format, force, json }: OutputOptions,
): (Output | null)[] {
  if (output === undefined && format === undefined) return names.map(() => null);
  const place = output ?? standardOutput;
  const isDirectory = place.endsWith("/") || (place !== standardOutput && statOf(place)?.isDirectory() === true);
  const chosen = format ?? formatOf(isDirectory ? "" : place);
  if (isDirectory) return inDirectory(names, place, chosen, force === true);
  if (names.length > 1) {
    throw new UsageError("several transcripts need a directory: -o DIRECTORY/");
  }
  if (place === standardOutput) {
    if (!isTextFormat(chosen) && process.stdout.isTTY) {
      throw new UsageError(`a terminal can't show ${chosen}; name a file: -o FILE.${chosen}`);
    }
    if (json === true) {
      throw new UsageError("--json and a transcript can't both be printed; name a file: -o PATH");
    }
  } else {
    if (statOf(dirname(place))?.isDirectory() !== true) {
      throw new CommandError(`there is no directory ${dirname(place)}`);
    }
    requireFree(place, force === true);
  }
  return names.map(() => ({ format: chosen, path: place }));
}

function inDirectory(names: readonly string[], directory: string, format: ExportFormat, force: boolean): Output[] {
  const outputs = names.map((name) => ({
    format,
    path: join(directory, `${stemOf(name)}.${exportExtension(format)}`),
  }));
  const taken = new Set<string>();
  for (const { path } of outputs) {
    if (taken.has(path)) {
      throw new UsageError(`two transcripts would be written to ${path}; send them one by one`);
    }
    taken.add(path);
  }
  for (const { path } of outputs) requireFree(path, force);
  return outputs;
}

/** Creates the directory that `--output` names. @throws {CommandError} when it can't be created */
export function makeOutputDirectory({ output = "" }: OutputOptions): void {
  if (!output.endsWith("/")) return;
  try {
    mkdirSync(systemPath(output), { recursive: true });
  } catch (error) {
    throw new CommandError(`can't create ${output}: ${messageOf(error)}`);
  }
}

/** Maximum width of a file name's stem. With characters of up to three bytes, file systems still accept the name. */
const MAX_STEM_COLUMNS = 80;

/** Returns a file name without its extension; for a URL, the last component of its path, or else its host. */
function stemOf(name: string): string {
  const link = isLink(name) ? URL.parse(name) : null;
  const encoded = basename(link?.pathname ?? "");
  const last = link === null ? name : valueOr(() => decodeURIComponent(encoded), encoded);
  const stem = basename(last, extname(last)) || (link?.hostname ?? "");
  const safe = fitted(withoutControls(stem).replace(/[/\\]/g, "_"), MAX_STEM_COLUMNS);
  return safe === "" || safe === "." || safe === ".." ? "transcript" : safe;
}

function formatOf(path: string): ExportFormat {
  const extension = extname(path).slice(1).toLowerCase();
  const longer = exportFormats.find((format) => {
    const own = exportExtension(format);
    return own.includes(".") && path.toLowerCase().endsWith(`.${own}`);
  });
  if (longer !== undefined) return longer;
  if (Value.Check(exportFormatSchema, extension)) return extension;
  if (extension === "" || path === standardOutput) return "txt";
  throw new UsageError(`.${extension} is not a transcript format; use ${exportFormats.join(", ")}: --format FORMAT`);
}

function requireFree(path: string, force: boolean): void {
  if (!force && statOf(path)?.isFile() === true) throw takenError(path);
}

function takenError(path: string): CommandError {
  return new CommandError(`${path} exists already; --force overwrites it`);
}

/** Returns undefined for a path without a file. @throws {CommandError} for one that can't be used */
function statOf(path: string) {
  try {
    return statSync(systemPath(path), { throwIfNoEntry: false });
  } catch (error) {
    throw new CommandError(`can't write to ${path}: ${messageOf(error)}`);
  }
}

/**
 * Writes a transcript to standard output, or atomically to a file.
 * @param force whether an existing file may be overwritten
 * @throws {CommandError} when the file exists without `force`, or can't be written
 */
export async function writeOutput(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  if (path === standardOutput) {
    // Untrusted text must not control a terminal; a pipe receives it unchanged.
    process.stdout.write(process.stdout.isTTY ? printableText(new TextDecoder().decode(bytes)) : bytes);
    return;
  }
  try {
    const there = await stat(systemPath(path)).catch(() => null);
    // A device or a pipe is written to, never replaced.
    if (there !== null && !there.isFile()) await writeFile(systemPath(path), bytes);
    else await replaceFile(path, bytes, force);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`can't write ${path}: ${messageOf(error)}`);
  }
}

async function replaceFile(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  const partial = systemPath(join(dirname(path), `.transcribe-${randomUUID()}.part`));
  try {
    {
      await using file = await open(partial, "wx");
      await file.writeFile(bytes);
      await file.sync();
    }
    if (force) await rename(partial, systemPath(path));
    else await placeNew(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}

/**
 * Publishes a file under a new name. `link` fails if the name exists, even if it was created a moment before. Some file
 * systems have no hard links; there, the name is checked before a rename.
 */
async function placeNew(partial: string | Buffer, path: string): Promise<void> {
  try {
    await link(partial, systemPath(path));
  } catch (error) {
    if (codeOf(error) === "EEXIST" || statOf(path) !== undefined) throw takenError(path);
    await rename(partial, systemPath(path));
  }
}
