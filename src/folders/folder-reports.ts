import { isDeepStrictEqual } from "node:util";
import { machineTrouble } from "../disk/index.ts";
import { IntakeError } from "../intake/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { codeOf } from "../text/index.ts";
import type { FolderFiles } from "./folder-files.ts";
import type { Sight } from "./folder-visit.ts";
import type { Folder } from "./folders.ts";
import { type Hindrance, isLimit } from "./hindrances.ts";

interface ReportServices {
  readonly files: FolderFiles;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly clock: () => number;
}

/** Accuracy of the time of the last visit. */
const REPORT_MILLISECONDS = 60_000;

/** What the last visit to each folder saw, in memory and in the database. */
export class FolderReports {
  readonly #services: ReportServices;
  /** The last sight that was stored, and when, by the id of the folder. */
  readonly #reported = new Map<string, Sight & { readonly at: number }>();

  constructor(services: ReportServices) {
    this.#services = services;
  }

  /** Returns the last sights of all folders. */
  all(): Sight[] {
    return [...this.#reported.values()];
  }

  hindranceOf(folderId: string): Hindrance | null {
    return this.#reported.get(folderId)?.hindrance ?? null;
  }

  delete(folderId: string): void {
    this.#reported.delete(folderId);
  }

  /** Reports a visit that saw nothing: the numbers of the last one, with a hindrance. */
  reportBlind(folder: Folder, hindrance: Hindrance, cause?: unknown): void {
    const { waiting, incomplete, unread } = this.#reported.get(folder.id) ?? folder;
    this.report(folder, { waiting, incomplete, unread, hindrance, cause });
  }

  /** Stores what a visit saw, if it is new or the last report is old. Logs a new hindrance, unless it is a limit. */
  report(folder: Folder, { cause, ...sight }: Sight): void {
    const { clock, now, files, log } = this.#services;
    const reported = this.#reported.get(folder.id);
    const isSame = reported !== undefined && isDeepStrictEqual({ ...sight, at: reported.at }, reported);
    if (isSame && clock() - reported.at < REPORT_MILLISECONDS) return;
    this.#reported.set(folder.id, { ...sight, at: clock() });
    const { hindrance } = sight;
    if (hindrance !== null && hindrance !== reported?.hindrance && !isLimit(hindrance)) {
      // A message of the file system may quote the name of a file.
      const code = cause instanceof IntakeError ? cause.refusal.kind : codeOf(cause);
      const details = code !== "" ? { code } : hindrance === "unexpected" ? { err: cause } : {};
      log.warn({ event: "folder.hindered", folderId: folder.id, hindrance, ...details });
    }
    const isOld = folder.hindrance === sight.hindrance && folder.hinderedSince !== null;
    const hinderedSince = sight.hindrance === null ? null : isOld ? folder.hinderedSince : now();
    try {
      files.report(folder.id, { ...sight, hinderedSince, seenAt: now() });
    } catch (error) {
      // Without disk space for the database, the metrics still show what was seen.
      if (machineTrouble(error) === null) throw error;
    }
  }
}
