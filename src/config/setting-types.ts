import { type TSchema, Type } from "@sinclair/typebox";

/** Properties of a setting in addition to its type, range and default. */
export interface SettingAnnotations {
  /** One or two sentences: the setting's effect and the meaning of special values. */
  readonly description: string;
  /** Whether a running server applies a new value at SIGHUP; otherwise it needs a restart. */
  readonly reload: boolean;
  /** Environment variable, if it is not derived from the path. */
  readonly env?: string;
  /** Option of `serve`, e.g. `--port`. */
  readonly flag?: string;
}

type Setting<T> = SettingAnnotations & { readonly default: T };
type Range = { readonly minimum: number; readonly maximum: number };

export function text(options: Setting<string>) {
  return Type.String(options);
}

/** Returns the type of a file or directory. A relative path in a settings file is relative to that file's folder. */
export function path(options: Setting<string>) {
  return Type.String({ ...options, path: "always" });
}

/** Returns the type of a name or a file; a text with a slash is a file's path. */
export function nameOrPath(options: Setting<string>) {
  return Type.String({ ...options, path: "with slash" });
}

export function integer(options: Setting<number> & Range) {
  return Type.Integer(options);
}

/** Returns the type of a size: the setting's number counts bytes, and people may write `512 MiB`. */
export function bytes(options: Setting<number> & Range) {
  return Type.Integer({ ...options, unit: "bytes" });
}

/** Returns the type of a duration: the setting's number counts this unit, and people may write `90s`, `18h` or `7d`. */
export function duration(unit: "seconds" | "minutes" | "days", options: Setting<number> & Range) {
  return Type.Integer({ ...options, unit });
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
