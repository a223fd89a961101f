import { type TSchema, Type } from "@sinclair/typebox";
import type { Unit } from "./units.ts";

/** Properties of a setting in addition to its type, range and default. */
export interface SettingAnnotations {
  /** One or two sentences: the setting's effect and the meaning of special values. */
  readonly description: string;
  /** Set when a new value needs a restart; otherwise a running server applies it at SIGHUP. */
  readonly needsRestart?: true;
  /** Environment variable, if it is not derived from the path. */
  readonly env?: string;
  /** Option of `serve`, e.g. `--port`. */
  readonly flag?: string;
}

type Setting<T> = SettingAnnotations & { readonly default: T };
type NumberSetting = Setting<number> & { readonly range: readonly [minimum: number, maximum: number] };

/** @param options `pattern`, a regular expression, and `form`, what it describes, follow "it must be" in messages */
export function text(options: Setting<string> & { readonly pattern?: string; readonly form?: string }) {
  return Type.String(options);
}

/** Returns the type of a file or directory. A relative path in a settings file is relative to that file's folder. */
export function path(options: Setting<string> & { readonly pattern?: string }) {
  return Type.String({ ...options, path: "always" });
}

/** Returns the type of a name or a file; a text with a slash is a file's path. */
export function nameOrPath(options: Setting<string>) {
  return Type.String({ ...options, path: "with slash" });
}

export function integer({ range: [minimum, maximum], ...options }: NumberSetting & { readonly unit?: Unit }) {
  return Type.Integer({ ...options, minimum, maximum });
}

/** Returns the type of a size: the setting's number counts bytes, and people may write `512 MiB`. */
export function bytes(options: NumberSetting) {
  return integer({ ...options, unit: "bytes" });
}

/** Returns the type of a duration: the setting's number counts this unit, and people may write `90s`, `18h` or `7d`. */
export function duration(unit: Exclude<Unit, "bytes">, options: NumberSetting) {
  return integer({ ...options, unit });
}

export function flag(options: Setting<boolean>) {
  return Type.Boolean(options);
}

export function list(options: Setting<string[]>) {
  return Type.Array(Type.String({ minLength: 1 }), options);
}

export function choice<const T extends string>(values: readonly T[], options: Setting<T>) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    options,
  );
}

/** Returns the type of a table of the file, e.g. `[server]`. */
export function group<T extends Record<string, TSchema>>(description: string, properties: T) {
  return Type.Object(properties, { additionalProperties: false, description });
}
