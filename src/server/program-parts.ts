import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Settings } from "../config/index.ts";
import { type ProgramFiles, presentProgramFiles, programFiles } from "../program/index.ts";

interface Places {
  readonly storage: Pick<Settings["storage"], "data_dir" | "runtime_dir">;
}

/** The program files, available until they are closed. */
interface ProgramParts {
  /** The paths of the files, or the error that makes them unavailable. */
  readonly files: ProgramFiles | Error;
  /**
   * Whether the files are already where a server expects them. Otherwise they were unpacked temporarily, and are
   * removed at the end.
   */
  readonly arePresent: boolean;
  close(): void;
}

/** Returns the program files where a server expects them, or else unpacks them into a temporary directory. */
export async function openProgramParts(settings: Settings): Promise<ProgramParts> {
  let temporary: string | null = null;
  const close = () => {
    if (temporary !== null) rmSync(temporary, { recursive: true, force: true });
  };
  try {
    const present = presentProgramFiles(runtimeDirectoryOf(settings));
    if (present !== null) return { files: present, arePresent: true, close };
    temporary = mkdtempSync(join(tmpdir(), "transcribe-parts-"));
    return { files: await programFiles(temporary), arePresent: false, close };
  } catch (error) {
    close();
    const reason = error instanceof Error ? error : new Error(String(error));
    return { files: reason, arePresent: false, close };
  }
}

/**
 * Returns the program files that are not TypeScript, ready for use. A single-file program unpacks them into the
 * directory that the settings name.
 */
export function programFilesFor(settings: Places): Promise<ProgramFiles> {
  return programFiles(runtimeDirectoryOf(settings));
}

/**
 * Returns the directory into which a single-file program unpacks its files. It is absolute, because ffmpeg is started
 * in another directory.
 */
export function runtimeDirectoryOf({ storage }: Places): string {
  return resolve(storage.runtime_dir || join(storage.data_dir, "runtime"));
}
