import { ModelFileError } from "./file-reader.ts";

/** @throws {ModelFileError} */
export function requireWithin(what: string, value: number, least: number, most: number): void {
  if (value < least || value > most) throw new ModelFileError(`${what} is ${value}, not ${least} to ${most}`);
}

/** @throws {ModelFileError} */
export function requireOneOf(what: string, value: number, allowed: readonly number[]): void {
  if (!allowed.includes(value)) throw new ModelFileError(`${what} is ${value}, not ${allowed.join(" or ")}`);
}
