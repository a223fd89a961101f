import { type TSchema, Type } from "@sinclair/typebox";

/** What a setting says of itself beside its type, its range and its default. */
export interface SettingAnnotations {
  /** One or two sentences: what it does, and what its special values mean. */
  readonly description: string;
  /** Whether a running server takes a new value at SIGHUP; where not, it needs a restart. */
  readonly reload: boolean;
  /** Name in the environment, where it is not made from the path. */
  readonly env?: string;
  /** Option of `serve`, e.g. `--port`. */
  readonly flag?: string;
}

type Setting<T> = SettingAnnotations & { readonly default: T };
type Range = { readonly minimum: number; readonly maximum: number };

export function text(options: Setting<string>) {
  return Type.String(options);
}

/** A file or directory. One that a settings file names relatively is sought from that file's folder on. */
export function path(options: Setting<string>) {
  return Type.String({ ...options, path: "always" });
}

/** A name that others give, or a file, which then has a slash in its path. */
export function nameOrPath(options: Setting<string>) {
  return Type.String({ ...options, path: "with slash" });
}

export function integer(options: Setting<number> & Range) {
  return Type.Integer(options);
}

/** A size: the setting's number counts bytes, and people may write `512 MiB`. */
export function bytes(options: Setting<number> & Range) {
  return Type.Integer({ ...options, unit: "bytes" });
}

/** A duration: the setting's number counts this unit, and people may write `90s`, `18h` or `7d`. */
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

/** A table of the file, e.g. `[server]`. */
export function group<T extends Record<string, TSchema>>(description: string, properties: T) {
  return Type.Object(properties, { additionalProperties: false, description });
}
