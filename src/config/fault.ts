import { ExpectedError, editDistance } from "../text/index.ts";
import type { Place } from "./read-toml.ts";

/** Source of a setting's value. */
export type Origin =
  | { readonly type: "default" }
  | ({ readonly type: "file"; readonly file: string } & Place)
  | { readonly type: "environment"; readonly name: string }
  | { readonly type: "flag"; readonly name: string };

/** A fault in the settings. */
export interface SettingFault {
  /** Null when the fault has no known place, e.g. for a file that cannot be read. */
  readonly origin: Origin | null;
  /** Path of the setting; null when the fault belongs to no setting. */
  readonly setting: string | null;
  /** Explanation in plain words, with the allowed values. */
  readonly message: string;
}

/** Settings that cannot be used; the message lists every fault with its place and the allowed values. */
export class SettingsError extends ExpectedError {
  override readonly name = "SettingsError";
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(faultText);
    super(lines.length === 1 ? lines[0] : `the settings have ${lines.length} faults:\n  ${lines.join("\n  ")}`);
    this.faults = faults;
  }
}

/** Adds the origins of their values to faults. */
export function locate(faults: readonly SettingFault[], origins: ReadonlyMap<string, Origin>): SettingFault[] {
  return faults.map((fault) => ({ ...fault, origin: origins.get(fault.setting ?? "") ?? null }));
}

/** Returns a fault as one line, e.g. `/etc/transcribe/transcribe.toml:3:1: server.prot: there is no such setting`. */
export function faultText({ origin, setting, message }: SettingFault): string {
  const place = origin === null || origin.type === "default" ? [] : [originText(origin)];
  // The name of a variable or a flag already identifies the setting.
  const name = setting === null || origin?.type === "environment" || origin?.type === "flag" ? [] : [setting];
  const text = [...place, ...name, message].join(": ");
  // Without control and format characters: a name from a file could move a terminal's cursor.
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

/** Returns an origin as text, e.g. `FILE:3:1`, `TRANSCRIBE_PORT`, `--port`, `default`. */
export function originText(origin: Origin): string {
  if (origin.type === "file") return `${origin.file}:${origin.line}:${origin.column}`;
  return origin.type === "default" ? "default" : origin.name;
}

/** Returns a text without the credentials in its links: `https://user:password@example.org/`. */
export function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/g, "//…@");
}

/** Returns the candidate most similar to a name, if one is similar enough; otherwise null. */
export function suggest(name: string, candidates: readonly string[]): string | null {
  const lower = name.toLowerCase();
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(name.length / 3)) ? best.candidate : null;
}
