import { InvalidArgumentError } from "commander";

/** Parses an option that takes a whole number, which may be negative. */
export function wholeNumber(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError("It takes a whole number.");
  return Number(text);
}

/** Parses an option that limits the number of shown items. */
export function howMany(text: string): number {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError("It takes a whole number from 1 on.");
  return number;
}

/** Parses an option that takes a pause in seconds, with optional decimals. */
export function seconds(text: string): number {
  const number = /^\d{0,6}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new InvalidArgumentError("It takes a number of seconds above 0.");
}
