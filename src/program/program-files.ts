import { dirname } from "node:path";
import type { EmbeddedPart } from "./contents.ts";
import { embedded } from "./embedded.ts";
import { innerProgramOf } from "./inner-program.ts";
import { below, checkoutFiles, type ProgramFiles, unpackedLayout } from "./layout.ts";
import { ownFile, UnpackError } from "./own-program.ts";
import { requireExecutable } from "./runtime-directory.ts";
import {
  digestFile,
  findUnpacked,
  type PackedProgram,
  type PartFault,
  unpackAgain,
  unpackInner,
  unpackInnerAgain,
  unpackParts,
  verifyParts,
} from "./unpack.ts";

/** The result of `verifyProgramFiles`. */
interface VerifiedFiles {
  readonly faults: readonly PartFault[];
  /** Whether the launcher found no directory for the inner program, which then takes memory instead of disk space. */
  readonly runsFromMemory: boolean;
}

/**
 * Returns the parts, ready to be used. From source, scripts/setup has put them into the checkout. A compiled program
 * unpacks them from its file, which takes a second or two the first time.
 * @param runtimeDirectory where a compiled program unpacks them; it stays locked for as long as this process lives
 * @throws {UnpackError} when the parts cannot be unpacked or run there
 */
export async function programFiles(runtimeDirectory: string): Promise<ProgramFiles> {
  if (embedded === null) return checkoutFiles;
  const files = below(await unpackParts(runtimeDirectory, packed(embedded.parts)), unpackedLayout);
  requireExecutable(files.ffmpeg, runtimeDirectory);
  return files;
}

/** Unpacks a compiled program completely, with the inner program, which the launcher starts from there. @throws {UnpackError} */
export async function installProgramFiles(runtimeDirectory: string): Promise<void> {
  await programFiles(runtimeDirectory);
  if (embedded !== null) await unpackInner(runtimeDirectory, packed(embedded.parts));
}

/**
 * Returns the parts where they are; null when a compiled program would have to unpack them first. Changes nothing.
 * @throws {UnpackError} when programs cannot be run from their file system
 */
export function presentProgramFiles(runtimeDirectory: string): ProgramFiles | null {
  if (embedded === null) return checkoutFiles;
  const directory = findUnpacked(runtimeDirectory, embedded.parts);
  if (directory === null) return null;
  const files = below(directory, unpackedLayout);
  requireExecutable(files.ffmpeg, runtimeDirectory);
  return files;
}

/**
 * Unpacks a compiled program's parts again and replaces the existing ones, and the inner program if that was changed.
 * @throws {UnpackError}
 */
export async function renewProgramFiles(runtimeDirectory: string): Promise<void> {
  if (embedded === null) return;
  const program = packed(embedded.parts);
  await unpackAgain(runtimeDirectory, program);
  if ((await innerFault(program)) !== null) await unpackInnerAgain(dirname(dirname(process.execPath)), program);
}

/**
 * Verifies every byte of a compiled program's unpacked parts and of the running inner program; unpacks missing parts
 * first.
 * @returns null from source, where nothing is unpacked
 * @throws {UnpackError} when the parts have to be unpacked and cannot be
 */
export async function verifyProgramFiles(runtimeDirectory: string): Promise<VerifiedFiles | null> {
  if (embedded === null) return null;
  const program = packed(embedded.parts);
  const faults = await verifyParts(await unpackParts(runtimeDirectory, program), embedded.parts);
  const fault = await innerFault(program);
  const runsFromMemory = process.execPath.startsWith("/memfd:");
  return { faults: fault === null ? faults : [...faults, fault], runsFromMemory };
}

async function innerFault({ inner }: PackedProgram): Promise<PartFault | null> {
  const found = await digestFile("/proc/self/exe", "sha256");
  return found === inner.sha256 ? null : { path: process.execPath, fault: "changed" };
}

/** @throws {UnpackError} when the single file was overwritten */
function packed(parts: readonly EmbeddedPart[]): PackedProgram {
  const file = ownFile();
  const inner = innerProgramOf(file);
  if (inner !== null) return { file, parts, inner };
  throw new UnpackError("this program's file was overwritten while this process ran: start it again");
}
