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

type Options<T> = Omit<SettingAnnotations, "description"> & { readonly default: T };
/** Texts and lists are empty by default. */
type EmptyOptions<T> = Omit<Options<T>, "default"> & { readonly default?: T };
type TextOptions = EmptyOptions<string> & { readonly pattern?: string };
type NumberOptions = Options<number> & { readonly range: readonly [minimum: number, maximum: number] };

/** @param options `pattern`, a regular expression, and `form`, what it describes, follow "it must be" in messages */
export function text(description: string, options: TextOptions & { readonly form?: string } = {}) {
  return Type.String({ default: "", ...options, description });
}

/** Returns the type of a file or directory. A relative path in a settings file is relative to that file's folder. */
export function path(description: string, options: TextOptions = {}) {
  return Type.String({ default: "", ...options, description, path: "always" });
}

/** Returns the type of a name or a file; a text with a slash is a file's path. */
export function nameOrPath(description: string, options: EmptyOptions<string> = {}) {
  return Type.String({ default: "", ...options, description, path: "with slash" });
}

export function integer(
  description: string,
  { range: [minimum, maximum], ...options }: NumberOptions & { readonly unit?: Unit },
) {
  return Type.Integer({ ...options, minimum, maximum, description });
}

/** Returns the type of a size: the setting's number counts bytes, and people may write `512 MiB`. */
export function bytes(description: string, options: NumberOptions) {
  return integer(description, { ...options, unit: "bytes" });
}

/** Returns the type of a duration: the setting's number counts this unit, and people may write `90s`, `18h` or `7d`. */
export function duration(unit: Exclude<Unit, "bytes">, description: string, options: NumberOptions) {
  return integer(description, { ...options, unit });
}

export function flag(description: string, options: Options<boolean>) {
  return Type.Boolean({ ...options, description });
}

export function list(description: string, options: EmptyOptions<string[]> = {}) {
  return Type.Array(Type.String({ minLength: 1 }), { default: [], ...options, description });
}

export function choice<const T extends string>(values: readonly T[], description: string, options: Options<T>) {
  return Type.Union(
    values.map((value) => Type.Literal(value)),
    { ...options, description },
  );
}

/** Returns the type of a table of the file, e.g. `[server]`. */
export function group<T extends Record<string, TSchema>>(description: string, properties: T) {
  return Type.Object(properties, { additionalProperties: false, description });
}
