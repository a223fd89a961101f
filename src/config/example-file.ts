import { type SettingEntry, type SettingTable, settingTables } from "./entries.ts";
import { expected } from "./read-value.ts";
import { writeQuantity } from "./units.ts";

const LINE_CHARACTERS = 100;

const head = `Settings of transcribe. Every setting is listed with its default; remove the # from each one that you change,
and check the file: transcribe config check FILE. The environment takes precedence over this file, and flags over both.
A running server reads the file again at SIGHUP; settings that need a restart say so.`;

type Values = Readonly<Record<string, unknown>>;

/**
 * Returns an example settings file: all settings with their defaults, commented out.
 * @param set values that are set, by dotted path
 */
export function exampleFile(set: Values = {}): string {
  return `${[comment(head), ...settingTables.map((table) => tableText(table, set))].join("\n\n")}\n`;
}

function tableText({ name, description, entries }: SettingTable, set: Values): string {
  return [`${comment(description)}\n[${name}]`, ...entries.map((entry) => settingText(entry, set))].join("\n\n");
}

function settingText(entry: SettingEntry, set: Values): string {
  const names = [entry.env, ...(entry.flag === null ? [] : [entry.flag])].join(", ");
  const facts = `Value: ${expected(entry)}. Also: ${names}.${entry.reload ? "" : " A new value needs a restart."}`;
  const key = entry.path.slice(entry.path.indexOf(".") + 1);
  const line = entry.path in set ? tomlValue(entry, set[entry.path]) : null;
  const written = line === null ? `#${key} = ${tomlValue(entry, entry.defaultValue)}` : `${key} = ${line}`;
  return `${comment(entry.description)}\n${comment(facts)}\n${written}`;
}

/** Wraps a text into comment lines. */
function comment(text: string): string {
  const lines = [""];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > LINE_CHARACTERS - 2) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.map((line) => `# ${line}`).join("\n");
}

/** Returns a setting's value as a settings file writes it, with the unit that people would use. */
export function tomlValue({ unit }: SettingEntry, value: unknown): string {
  if (unit === null || typeof value !== "number" || value === 0) return JSON.stringify(value);
  return JSON.stringify(writeQuantity(value, unit));
}
