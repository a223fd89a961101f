import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeDirectoryOf, type Settings } from "../config/index.ts";
import { type ProgramFiles, presentProgramFiles, programFiles } from "../program/index.ts";

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
