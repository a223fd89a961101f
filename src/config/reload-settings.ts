import { isDeepStrictEqual } from "node:util";
import { Value } from "@sinclair/typebox/value";
import { flatten, nest, settingEntries } from "./entries.ts";
import { type Settings, settingsSchema } from "./schema.ts";

/** The result of new settings for a running server. */
export interface ReloadedSettings {
  /** The new settings, except that settings which need a restart keep their old values. */
  readonly settings: Settings;
  /** Paths of the settings whose values change now. */
  readonly changed: readonly string[];
  /** Paths of the settings whose values change after a restart. */
  readonly needRestart: readonly string[];
}

/** Returns the settings with which a server continues when it runs with `running` and reads `next`. */
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
