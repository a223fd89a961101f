import { InvalidArgumentError } from "commander";

/** Reads an option that takes a whole number, maybe a negative one. */
export function wholeNumber(text: string): number {
  if (!/^-?\d{1,9}$/.test(text)) throw new InvalidArgumentError("It takes a whole number.");
  return Number(text);
}

/** Reads an option that says how many to show. */
export function howMany(text: string): number {
  const number = wholeNumber(text);
  if (number < 1) throw new InvalidArgumentError("It takes a whole number from 1 on.");
  return number;
}

/** Reads an option that takes a pause in seconds, whole or not. */
export function seconds(text: string): number {
  const number = /^\d{0,6}(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw new InvalidArgumentError("It takes a number of seconds above 0.");
}
