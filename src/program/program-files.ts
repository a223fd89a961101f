import { embedded } from "./embedded.ts";
import { below, checkoutFiles, type ProgramFiles, unpackedLayout } from "./layout.ts";
import { requireExecutable } from "./runtime-directory.ts";
import { findUnpacked, type PartFault, unpackAgain, unpackParts, verifyParts } from "./unpack.ts";

/**
 * Returns the parts, ready to be used. From source, scripts/setup has put them into the checkout. A compiled program
 * unpacks them from itself, which takes a second or two the first time.
 * @param runtimeDirectory where a compiled program unpacks them; it stays locked for as long as this process lives
 * @throws {UnpackError} when the parts cannot be unpacked or run there
 */
export async function programFiles(runtimeDirectory: string): Promise<ProgramFiles> {
  if (embedded === null) return checkoutFiles;
  const files = below(await unpackParts(runtimeDirectory, embedded.parts), unpackedLayout);
  requireExecutable(files.ffmpeg, runtimeDirectory);
  return files;
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

/** Unpacks a compiled program's parts again and replaces the existing ones. @throws {UnpackError} */
export async function renewProgramFiles(runtimeDirectory: string): Promise<void> {
  if (embedded !== null) await unpackAgain(runtimeDirectory, embedded.parts);
}

/**
 * Verifies every byte of a compiled program's unpacked parts; unpacks them first when they are missing.
 * @returns the faults; null from source, where nothing is unpacked
 * @throws {UnpackError} when the parts have to be unpacked and cannot be
 */
export async function verifyProgramFiles(runtimeDirectory: string): Promise<PartFault[] | null> {
  if (embedded === null) return null;
  return verifyParts(await unpackParts(runtimeDirectory, embedded.parts), embedded.parts);
}
