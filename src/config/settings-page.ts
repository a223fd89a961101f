import { type SettingEntry, type SettingTable, settingTables } from "./entries.ts";
import { tomlValue } from "./example-file.ts";
import { expected } from "./read-value.ts";
import { defaultSettingsFile } from "./settings-file.ts";

const introduction = `# Settings

This page is generated from the program's own schema. \`transcribe config docs\` prints it for your version, and
\`transcribe config example\` prints a commented file with all defaults to start from.

\`\`\`sh
transcribe config example > transcribe.toml    # then change what you need
transcribe config check transcribe.toml        # every fault with its line; exit code 2 if there is one
transcribe config show                         # the current values and where each one comes from
\`\`\`

## Sources

Later sources take precedence:

1. the default, as listed below
2. the settings file, TOML: \`--config FILE\`, else \`TRANSCRIBE_CONFIG\`, else \`${defaultSettingsFile}\` if it
   exists. An empty \`TRANSCRIBE_CONFIG\` means no file.
3. the environment
4. the flag, for the settings that have one

All commands read the same file, so \`transcribe accounts\` finds the data of the server that \`transcribe serve\` started.
A relative path in the file is relative to the file's folder; in the environment and in flags, to the current directory. Lists
are separated by commas in the environment: \`TRANSCRIBE_FETCH_ALLOW=media.example.org,10.1.0.0/16\`. An unknown key or table,
or an unknown variable \`TRANSCRIBE_…\`, is an error, because a misspelt setting would otherwise have no effect, unnoticed.

## Units

A setting that counts bytes, seconds, minutes or days accepts a plain number of these, or a text with a unit:

| | |
|---|---|
| sizes | \`B\`, \`KiB\`, \`MiB\`, \`GiB\`, \`TiB\` (by 1024), \`kB\`, \`MB\`, \`GB\`, \`TB\` (by 1000): \`"512 MiB"\`, \`"1.5GB"\` |
| durations | \`s\`, \`m\`, \`h\`, \`d\`, \`w\`, also combined: \`"90s"\`, \`"18h"\`, \`"1h 30m"\`, \`"7d"\` |

## Reload

\`systemctl reload transcribe\` or SIGHUP (\`kill -HUP\`) makes the server read its settings again. Settings that the tables
mark with "yes" change at once, for requests and recordings in progress too; nothing is interrupted. Settings that need a
restart keep their values, and the log names them (\`settings.need_restart\`). If the settings have a fault, nothing changes,
and the log reports the fault (\`settings.not_reloaded\`).`;

/** Returns the documentation page of all settings, in Markdown. */
export function settingsPage(): string {
  return `${[introduction, ...settingTables.map(tableText)].join("\n\n")}\n`;
}

function tableText({ name, description, entries }: SettingTable): string {
  return `## [${name}]

${description}

| setting | default | description | environment, flag | reload |
|---|---|---|---|---|
${entries.map(row).join("\n")}`;
}

function row(entry: SettingEntry): string {
  const key = entry.path.slice(entry.path.indexOf(".") + 1);
  const names = [entry.env, ...(entry.flag === null ? [] : [entry.flag])].map(code).join(" ");
  const description = `${entry.description} Value: ${expected(entry)}.`;
  const cells = [
    code(key),
    code(tomlValue(entry, entry.defaultValue)),
    description,
    names,
    entry.reload ? "yes" : "restart",
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
