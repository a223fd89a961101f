import { type SettingEntry, type SettingTable, settingTables } from "../entries.ts";
import { expected } from "../read-value.ts";
import { defaultSettingsFile } from "../settings-file.ts";
import { tomlValue } from "./toml-value.ts";

const introduction = `# Settings

This page is made from the program's own schema: \`transcribe config docs\` prints it as your version has it, and
\`transcribe config example\` prints a commented file with all defaults to begin from.

\`\`\`sh
transcribe config example > transcribe.toml    # then change what you need
transcribe config check transcribe.toml        # every fault with its line; exit code 2 when there is one
transcribe config show                         # what is in force, and where each value comes from
\`\`\`

## Where they come from

Later ones win:

1. the default, as below
2. the settings file, TOML: \`--config FILE\`, else \`TRANSCRIBE_CONFIG\`, else \`${defaultSettingsFile}\` where that
   is there. An empty \`TRANSCRIBE_CONFIG\` means no file.
3. the environment
4. the flag, for the settings that have one

All commands read the same file, so that \`transcribe accounts\` finds the data of the server that \`transcribe serve\` started.
A relative path in the file counts from the file's folder; in the environment and in flags, from the current one. Lists are
written with commas in the environment: \`TRANSCRIBE_FETCH_ALLOW=media.example.org,10.1.0.0/16\`. A key, a table or a
variable \`TRANSCRIBE_…\` that is no setting is an error: a misspelt setting would have no effect, unnoticed.

## Units

A setting that counts bytes, seconds, minutes or days takes a plain number of these, or a text with a unit:

| | |
|---|---|
| sizes | \`B\`, \`KiB\`, \`MiB\`, \`GiB\`, \`TiB\` (by 1024), \`kB\`, \`MB\`, \`GB\`, \`TB\` (by 1000): \`"512 MiB"\`, \`"1.5GB"\` |
| times | \`s\`, \`m\`, \`h\`, \`d\`, \`w\`, also together: \`"90s"\`, \`"18h"\`, \`"1h 30m"\`, \`"7d"\` |

## While the server runs

\`systemctl reload transcribe\`, or SIGHUP (\`kill -HUP\`), has the server read its settings again. What the tables mark with
"yes" counts from then on, for requests and recordings that are under way too; nothing is interrupted. What needs a restart
stays as it is, and the log names it (\`settings.need_restart\`). When the settings are wrong nothing is changed, and the log
says what is wrong (\`settings.not_reloaded\`).`;

/** Returns the documentation page of all settings, in Markdown. */
export function settingsPage(): string {
  return `${[introduction, ...settingTables.map(tableText)].join("\n\n")}\n`;
}

function tableText({ name, description, entries }: SettingTable): string {
  return `## [${name}]

${description}

| setting | default | what it is | environment, flag | reload |
|---|---|---|---|---|
${entries.map(row).join("\n")}`;
}

function row(entry: SettingEntry): string {
  const key = entry.path.slice(entry.path.indexOf(".") + 1);
  const names = [entry.env, ...(entry.flag === null ? [] : [entry.flag])].map(code).join(" ");
  const what = `${entry.description} It takes ${expected(entry)}.`;
  const cells = [code(key), code(tomlValue(entry, entry.defaultValue)), what, names, entry.reload ? "yes" : "restart"];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
