import { Kind, type TObject, type TSchema } from "@sinclair/typebox";
import { type SettingAnnotations, settingsSchema } from "./schema/index.ts";

/** One setting, as the loader, the flags and the documentation see it. */
export interface SettingEntry {
  /** Dotted path in the file, e.g. `server.port`. */
  readonly path: string;
  readonly env: string;
  readonly flag: string | null;
  readonly schema: TSchema;
  readonly description: string;
  /** Whether a running server takes a new value. */
  readonly reload: boolean;
  readonly defaultValue: unknown;
}

function isGroup(schema: TSchema): schema is TObject {
  return schema[Kind] === "Object";
}

function walk(schema: TObject, prefix: string): SettingEntry[] {
  return Object.entries(schema.properties).flatMap(([name, child]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    if (isGroup(child)) return walk(child, path);
    const annotations = child as TSchema & SettingAnnotations;
    return [
      {
        path,
        env: annotations.env ?? `TRANSCRIBE_${path.replaceAll(".", "_").toUpperCase()}`,
        flag: annotations.flag ?? null,
        schema: child,
        description: annotations.description,
        reload: annotations.reload,
        defaultValue: child.default,
      },
    ];
  });
}

/** All settings in the order of the schema. */
export const settingEntries: readonly SettingEntry[] = walk(settingsSchema, "");
