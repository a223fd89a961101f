import type { SettingEntry } from "../entries.ts";
import { writeQuantity } from "../units.ts";

/** Returns a setting's value as a settings file writes it, with the unit that people would use. */
export function tomlValue({ unit }: SettingEntry, value: unknown): string {
  if (unit === null || typeof value !== "number" || value === 0) return JSON.stringify(value);
  return JSON.stringify(writeQuantity(value, unit));
}
