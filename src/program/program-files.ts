import { checkoutFiles } from "./checkout-files.ts";
import { embedded } from "./embedded.ts";
import { below, type ProgramFiles, unpackedLayout } from "./layout.ts";
import { requireExecutable } from "./runtime-directory.ts";
import { findUnpacked, type PartFault, unpackAgain, unpackParts, verifyParts } from "./unpack.ts";

/**
 * The parts, ready to be used: from source as scripts/setup lays them out in a checkout; by a compiled program unpacked
 * from itself, which takes a second or two the first time.
 * @param runtimeDirectory where a compiled program unpacks them; it is held for as long as this process lives
 * @throws {UnpackError}
 */
export async function programFiles(runtimeDirectory: string): Promise<ProgramFiles> {
  if (embedded === null) return checkoutFiles;
  const files = below(await unpackParts(runtimeDirectory, embedded.parts), unpackedLayout);
  requireExecutable(files.ffmpeg, runtimeDirectory);
  return files;
}

/**
 * The parts where they lie; null where a compiled program would have to unpack them first. Changes nothing.
 * @throws {UnpackError} where they lie on a file system that nothing can be run from
 */
export function presentProgramFiles(runtimeDirectory: string): ProgramFiles | null {
  if (embedded === null) return checkoutFiles;
  const directory = findUnpacked(runtimeDirectory, embedded.parts);
  if (directory === null) return null;
  const files = below(directory, unpackedLayout);
  requireExecutable(files.ffmpeg, runtimeDirectory);
  return files;
}

/** Unpacks a compiled program's parts again, over those that lie there. @throws {UnpackError} */
export async function renewProgramFiles(runtimeDirectory: string): Promise<void> {
  if (embedded !== null) await unpackAgain(runtimeDirectory, embedded.parts);
}

/**
 * Reads every byte of a compiled program's unpacked parts and compares; unpacks them first where they are not there.
 * @returns what is wrong; null from source, where nothing is unpacked
 * @throws {UnpackError}
 */
export async function verifyProgramFiles(runtimeDirectory: string): Promise<PartFault[] | null> {
  if (embedded === null) return null;
  return verifyParts(await unpackParts(runtimeDirectory, embedded.parts), embedded.parts);
}
