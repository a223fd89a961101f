import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Settings } from "../config/index.ts";
import { type ProgramFiles, presentProgramFiles, programFiles } from "../program/index.ts";
import { runtimeDirectoryOf } from "./program-files-for.ts";

/** The parts of the program for as long as they are looked at. */
export interface ProgramParts {
  /** Why they can't be had, else where they are. */
  readonly files: ProgramFiles | Error;
  /** Whether a server finds them there already; else they were unpacked to be looked at, and go at the end. */
  readonly arePresent: boolean;
  close(): void;
}

/** The parts where a server would find them; where they are not there yet, unpacked into a temporary directory. */
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
