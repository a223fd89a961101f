import { isDeepStrictEqual } from "node:util";
import { Value } from "@sinclair/typebox/value";
import { settingEntries } from "./entries.ts";
import { flatten, nest } from "./paths.ts";
import { type Settings, settingsSchema } from "./schema/index.ts";

/** What becomes of the settings of a running server that is handed others. */
export interface ReloadedSettings {
  /** The others, but for those that can't be changed without a restart: they stay as they were. */
  readonly settings: Settings;
  /** Paths of the settings that have another value now. */
  readonly changed: readonly string[];
  /** Paths of those that will have another value after a restart. */
  readonly needRestart: readonly string[];
}

/** The settings that a server goes on with when it runs with `running` and reads `next`. */
export function reloadSettings(running: Settings, next: Settings): ReloadedSettings {
  const [before, after] = [new Map(flatten(running)), new Map(flatten(next))];
  const differing = settingEntries.filter(({ path }) => !isDeepStrictEqual(before.get(path), after.get(path)));
  const values = settingEntries.map(({ path, reload }) => [path, (reload ? after : before).get(path)] as const);
  return {
    settings: Value.Decode(settingsSchema, nest(values)),
    changed: differing.filter(({ reload }) => reload).map(({ path }) => path),
    needRestart: differing.filter(({ reload }) => !reload).map(({ path }) => path),
  };
}
