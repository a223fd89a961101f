import type { Settings } from "../../config/index.ts";
import type { SpeechModel } from "../../models/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import type { RunningServer } from "../../server/index.ts";
import type { DataPaths, Store } from "../../storage/index.ts";
import type { Machine } from "./machine.ts";

/**
 * How a check ended: `ok`; `warning`: it works, but worse or less safely than it could; `problem`: something doesn't work
 * or soon won't; `skipped`: there is nothing to look at here.
 */
export type Status = "ok" | "warning" | "problem" | "skipped";

/** Something that `--fix` can mend. */
export interface Mending {
  /** What is done, as an order: "Remove 3 files that a crash left behind". */
  readonly what: string;
  apply(): Promise<void> | void;
}

export interface Finding {
  readonly status: Status;
  /** What it means for the user, in a line without an end mark. */
  readonly summary: string;
  /** Facts behind it, a line each. */
  readonly detail?: readonly string[];
  /** What to do next, in full sentences. */
  readonly advice?: string;
  readonly mending?: Mending;
}

/** What a check may look at. */
export interface CheckContext {
  readonly settings: Settings;
  /** Why the settings can't be read; the others are the defaults then. */
  readonly settingsError: string | null;
  readonly configFile: string | null;
  readonly paths: DataPaths;
  /** Whether the data directory is there and this user may look into it. */
  readonly data: "there" | "missing" | "closed";
  /** The parts that are not TypeScript, or why they can't be had. */
  readonly files: ProgramFiles | Error;
  /** Whether the parts lie where a server finds them, not only where they were unpacked to be looked at. */
  readonly filesArePresent: boolean;
  /** The model that new recordings are transcribed with; null where the parts of the program can't be had. */
  readonly whisperModel: SpeechModel | null;
  /** The database, to read only; why it can't be read; null where there is none. */
  readonly database: Store | Error | null;
  /** The server of this data directory, when one answers. */
  readonly server: RunningServer | null;
  readonly machine: Machine;
  /** Look longer: every variant of the CPU backend, every installed model. */
  readonly all: boolean;
  readonly signal: AbortSignal;
}

/** One thing that is looked at. It changes nothing by itself. */
export interface Check {
  /** Stable: documentation and monitoring go by it. */
  readonly id: string;
  readonly title: string;
  /** What is looked at and why it matters, for the manual. */
  readonly explanation: string;
  /** Keeps the CPU or the disk busy, so that only one such check runs at a time. */
  readonly heavy?: true;
  run(context: CheckContext): Promise<Finding> | Finding;
}

type More = Omit<Finding, "status" | "summary">;

export function ok(summary: string, ...detail: readonly string[]): Finding {
  return { status: "ok", summary, detail };
}

export function skipped(summary: string): Finding {
  return { status: "skipped", summary };
}

export function warning(summary: string, more: More & { readonly advice: string }): Finding {
  return { status: "warning", summary, ...more };
}

export function problem(summary: string, more: More & { readonly advice: string }): Finding {
  return { status: "problem", summary, ...more };
}
