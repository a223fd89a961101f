import type { RunningServer } from "../../api-contract/index.ts";
import type { Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import type { SpeechModel, SpeechModels } from "../../models/index.ts";
import type { ProgramFiles } from "../../program/index.ts";
import type { DataPaths } from "../../storage/index.ts";
import type { Machine } from "./machine.ts";

/**
 * Result of a check. `ok`: no fault; `warning`: it works, but worse or less safely than it could; `problem`: something
 * does not work or soon will not; `skipped`: there is nothing to check here.
 */
export type Status = "ok" | "warning" | "problem" | "skipped";

export interface Finding {
  readonly status: Status;
  /** Meaning for the user, in one line without a full stop. */
  readonly summary: string;
  /** Supporting facts, one per line. */
  readonly detail?: readonly string[];
  /** Advice for the user, in full sentences. */
  readonly advice?: string;
  readonly repair?: Repair;
}

/** A repair that `--fix` can make. */
export interface Repair {
  /** Description as an imperative: "Remove 3 files that a crash left behind". */
  readonly what: string;
  apply(): Promise<void> | void;
}

/** A single check. It changes nothing by itself. */
export interface Check {
  /** Stable id: documentation and monitoring refer to it. */
  readonly id: string;
  readonly title: string;
  /** Subject of the check and why it matters, for the manual. */
  readonly explanation: string;
  /** The check takes much CPU time or disk bandwidth, so only one heavy check runs at a time. */
  readonly heavy?: true;
  run(context: CheckContext): Promise<Finding> | Finding;
}

export interface DoctorOptions {
  readonly settings: Settings;
  /** Reason why the settings cannot be read; the defaults are then used. */
  readonly settingsError: string | null;
  readonly configFile: string | null;
  /** Whether to check more: every variant of the CPU backend and every installed model. */
  readonly all: boolean;
  readonly signal: AbortSignal;
}

/** Data that a check may use. */
export interface CheckContext extends DoctorOptions {
  readonly paths: DataPaths;
  /** Whether the data directory exists and this user may read it. */
  readonly data: "present" | "missing" | "unreadable";
  /** The parts of the program that are not TypeScript, or the reason why they are not available. */
  readonly files: ProgramFiles | Error;
  /** Whether the parts are where a server finds them, and not only unpacked temporarily for the checks. */
  readonly filesArePresent: boolean;
  /** The available models; null if the parts of the program are not available. */
  readonly speechModels: SpeechModels | null;
  /** The model for new recordings; null if the parts of the program are not available. */
  readonly speechModel: SpeechModel | null;
  /** The database, read-only; the reason why it cannot be read; null if there is none. */
  readonly database: Store | Error | null;
  /** The running server of this data directory; null if none responds. */
  readonly server: RunningServer | null;
  readonly machine: Machine;
}

type Fault = Omit<Finding, "status" | "summary"> & { readonly advice: string };

export const ok = (summary: string, ...detail: readonly string[]): Finding => ({ status: "ok", summary, detail });
export const skipped = (summary: string): Finding => ({ status: "skipped", summary });
export const warning = (summary: string, fault: Fault): Finding => ({ status: "warning", summary, ...fault });
export const problem = (summary: string, fault: Fault): Finding => ({ status: "problem", summary, ...fault });

/** Returns a function that calls `probe` once for all checks of a run. */
export function oncePerRun<T>(probe: (context: CheckContext) => T): (context: CheckContext) => T {
  const known = new WeakMap<CheckContext, { readonly result: T }>();
  return (context) => {
    const { result } = known.get(context) ?? { result: probe(context) };
    known.set(context, { result });
    return result;
  };
}

/** Advice for a missing or damaged part of the program. */
export const unpackAgain =
  "Unpack the program again with `transcribe doctor --fix`, or run scripts/setup in a checkout.";
