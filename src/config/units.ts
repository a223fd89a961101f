/** Unit of a setting's number, if people may write it with a unit. */
export type Unit = "bytes" | "seconds" | "minutes" | "days";

/** A number, or the reason why the text is not one. */
type Quantity = { readonly ok: true; readonly value: number } | { readonly ok: false; readonly reason: string };

const sizes = new Map<string, number>([
  ...["b", "byte", "bytes"].map((name) => [name, 1] as const),
  ...["kb", "mb", "gb", "tb"].map((name, index) => [name, 1000 ** (index + 1)] as const),
  ...["kib", "mib", "gib", "tib"].map((name, index) => [name, 1024 ** (index + 1)] as const),
]);

const durations: readonly [seconds: number, names: readonly string[]][] = [
  [1, ["s", "sec", "second", "seconds"]],
  [60, ["m", "min", "minute", "minutes"]],
  [3600, ["h", "hour", "hours"]],
  [86_400, ["d", "day", "days"]],
  [604_800, ["w", "week", "weeks"]],
];
const seconds = new Map(durations.flatMap(([length, names]) => names.map((name) => [name, length])));

const inSeconds = { seconds: 1, minutes: 60, days: 86_400 } as const;

/** Examples of values with a unit, for messages and documentation. */
export const unitExamples: Readonly<Record<Unit, string>> = {
  bytes: '"512 MiB", "2GB"',
  seconds: '"30s", "18h"',
  minutes: '"90m", "20h"',
  days: '"7d", "2w"',
};

/**
 * Reads a text like `512 MiB`, `18h`, `1h 30m` or a plain number as a whole number of the setting's unit. KiB, MiB and GiB
 * count by 1024, kB, MB and GB by 1000; upper and lower case mean the same.
 */
export function readQuantity(text: string, unit: Unit): Quantity {
  const trimmed = text.trim();
  if (/^-?\d+$/.test(trimmed)) return { ok: true, value: Number(trimmed) };
  const parts = [...trimmed.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gi)];
  if (parts.length === 0 || parts.map(([all]) => all).join("") !== trimmed || (unit === "bytes" && parts.length > 1)) {
    return { ok: false, reason: "this is not a number with a unit" };
  }
  let total = 0;
  for (const [, number = "", name = ""] of parts) {
    const factor = factorOf(name, unit);
    if (typeof factor === "string") return { ok: false, reason: factor };
    total += Number(number) * factor;
  }
  // Decimal fractions are inexact in binary, so a relative error of a billionth is ignored.
  const value = Math.round(total);
  if (Math.abs(total - value) > 1e-9 * Math.max(1, total)) {
    return { ok: false, reason: `this is ${Number(total.toFixed(3))} ${unit}; it must be a whole number` };
  }
  return { ok: true, value };
}

const writtenSizes = { " GiB": 1024 ** 3, " MiB": 1024 ** 2, " KiB": 1024, " bytes": 1 };
const writtenDurations = { d: 86_400, h: 3600, m: 60, s: 1 };

/** Formats a number in the largest unit in which it is a whole number, e.g. `512 MiB`, `18h`. */
export function writeQuantity(value: number, unit: Unit): string {
  if (value === 0) return "0";
  if (value === 1 && unit === "bytes") return "1 byte";
  const count = unit === "bytes" ? value : value * inSeconds[unit];
  const units = Object.entries(unit === "bytes" ? writtenSizes : writtenDurations);
  const [name, factor] = units.find(([, each]) => count % each === 0) ?? ["", 1];
  return `${count / factor}${name}`;
}

/** Returns the factor of a unit's name, or the reason why the name cannot be used here. */
function factorOf(name: string, unit: Unit): number | string {
  const lower = name.toLowerCase();
  if (unit === "bytes") {
    const size = sizes.get(lower);
    if (size !== undefined) return size;
    if (/^[kKMgGtT]$/.test(name)) {
      return `${name} is ambiguous: write ${name.toUpperCase()}iB (by 1024) or ${name.toUpperCase()}B (by 1000)`;
    }
    return seconds.has(lower) ? `${name} is a unit of time, and this is a size` : `${name} is not a unit of size`;
  }
  const length = seconds.get(lower);
  if (length !== undefined) return length / inSeconds[unit];
  return sizes.has(lower) ? `${name} is a unit of size, and this is a time` : `${name} is not a unit of time`;
}
