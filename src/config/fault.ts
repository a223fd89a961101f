import type { Place } from "./toml/place.ts";

/** Where a setting's value comes from. */
export type Origin =
  | { readonly type: "default" }
  | ({ readonly type: "file"; readonly file: string } & Place)
  | { readonly type: "environment"; readonly name: string }
  | { readonly type: "flag"; readonly name: string };

/** Something that is wrong with the settings. */
export interface SettingFault {
  /** Null where no place can be told, e.g. for a file that can't be read. */
  readonly origin: Origin | null;
  /** Path of the setting; null where the fault is in no setting. */
  readonly setting: string | null;
  /** In plain words, with what is allowed. */
  readonly message: string;
}

/** Settings that can't be used; the message says what is wrong with them, where it is and what is allowed: all of it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly faults: readonly SettingFault[];

  constructor(faults: readonly SettingFault[]) {
    const lines = faults.map(faultText);
    super(lines.length === 1 ? lines[0] : `the settings have ${lines.length} faults:\n  ${lines.join("\n  ")}`);
    this.faults = faults;
  }
}

/** Faults that were found in values, with where these come from. */
export function locate(faults: readonly SettingFault[], origins: ReadonlyMap<string, Origin>): SettingFault[] {
  return faults.map((fault) => ({ ...fault, origin: origins.get(fault.setting ?? "") ?? null }));
}

/** A fault in one line, e.g. `/etc/transcribe/transcribe.toml:3:1: server.prot: there is no such setting`. */
export function faultText({ origin, setting, message }: SettingFault): string {
  const place = origin === null || origin.type === "default" ? [] : [originText(origin)];
  // A variable and a flag say by their name which setting they are.
  const name = setting === null || origin?.type === "environment" || origin?.type === "flag" ? [] : [setting];
  return onOneLine([...place, ...name, message].join(": "));
}

/** What a file's names may hold could move a terminal's cursor. */
function onOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

/** e.g. `FILE:3:1`, `TRANSCRIBE_PORT`, `--port`, `default`. */
export function originText(origin: Origin): string {
  if (origin.type === "file") return `${origin.file}:${origin.line}:${origin.column}`;
  return origin.type === "default" ? "default" : origin.name;
}
