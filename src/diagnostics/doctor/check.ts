import type { Settings } from "../../config/index.ts";
import type { SpeechModel } from "../../models/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import type { RunningServer } from "../../server/index.ts";
import type { DataPaths, Store } from "../../storage/index.ts";
import type { Machine } from "./machine.ts";

/**
 * Result of a check. `ok`: no fault; `warning`: it works, but worse or less safely than it could; `problem`: something
 * does not work or soon will not; `skipped`: there is nothing to check here.
 */
export type Status = "ok" | "warning" | "problem" | "skipped";

/** A repair that `--fix` can make. */
export interface Mending {
  /** Description as an imperative: "Remove 3 files that a crash left behind". */
  readonly what: string;
  apply(): Promise<void> | void;
}

export interface Finding {
  readonly status: Status;
  /** Meaning for the user, in one line without a full stop. */
  readonly summary: string;
  /** Supporting facts, one per line. */
  readonly detail?: readonly string[];
  /** Advice for the user, in full sentences. */
  readonly advice?: string;
  readonly mending?: Mending;
}

/** Data that a check may use. */
export interface CheckContext {
  readonly settings: Settings;
  /** Reason why the settings cannot be read; the defaults are then used. */
  readonly settingsError: string | null;
  readonly configFile: string | null;
  readonly paths: DataPaths;
  /** Whether the data directory exists and this user may read it. */
  readonly data: "there" | "missing" | "closed";
  /** The parts of the program that are not TypeScript, or the reason why they are not available. */
  readonly files: ProgramFiles | Error;
  /** Whether the parts are where a server finds them, and not only unpacked temporarily for the checks. */
  readonly filesArePresent: boolean;
  /** The model for new recordings; null if the parts of the program are not available. */
  readonly speechModel: SpeechModel | null;
  /** The database, read-only; the reason why it cannot be read; null if there is none. */
  readonly database: Store | Error | null;
  /** The running server of this data directory; null if none responds. */
  readonly server: RunningServer | null;
  readonly machine: Machine;
  /** Whether to check more: every variant of the CPU backend and every installed model. */
  readonly all: boolean;
  readonly signal: AbortSignal;
}

/** A single check. It changes nothing by itself. */
export interface Check {
  /** Stable id: documentation and monitoring refer to it. */
  readonly id: string;
  readonly title: string;
  /** Subject of the check and why it matters, for the manual. */
  readonly explanation: string;
  /** The check keeps the CPU or the disk busy, so only one such check runs at a time. */
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
