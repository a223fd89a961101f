import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bashScript, zshScript } from "../../../src/cli/completion/bash-and-zsh.ts";
import { fishScript } from "../../../src/cli/completion/fish.ts";
import { completionPlaces } from "../../../src/cli/completion/places.ts";
import { cliProgram } from "../../../src/cli/index.ts";
import { exampleFile } from "../../../src/config/index.ts";
import { defaultConfigFile, defaultDataDirectory, packagePaths } from "../../../src/install/layout.ts";
import { packageUnit } from "../../../src/install/unit.ts";
import { type CommandHelp, commandGroups, exitCodeMeanings } from "../../development/docs/commands.ts";
import { root } from "../../shared/checkout.ts";
import { type PackagedProgram, type PackageFacts, type PackageFile, readableFile } from "./facts.ts";

const places = completionPlaces(await cliProgram());

/** Directory of the documentation on the machine. */
export const DOCUMENTS = "/usr/share/doc/transcribe";
/** Best compression. The header has no time and no name. */
const GZIP_LEVEL = 9;

/**
 * Returns the files that every package contains: the program, its unit and settings, shell completion and documentation.
 * @param zshFunctions directory of completion functions that the distribution's zsh reads
 */
export function sharedFiles(facts: PackageFacts, program: PackagedProgram, zshFunctions: string): PackageFile[] {
  const day = new Date(facts.epoch * 1000).toISOString().slice(0, 10);
  const settings = readableFile(
    defaultConfigFile,
    settingsFile(defaultDataDirectory, packagePaths.runtimeDirectory),
    "settings",
  );
  return [
    { path: packagePaths.program, mode: 0o755, kind: "plain", content: Bun.file(program.path) },
    readableFile(packagePaths.unit, packageUnit(), "plain"),
    // Settings may contain a password of a client.
    { ...settings, mode: 0o640 },
    readableFile("/usr/share/bash-completion/completions/transcribe", bashScript(places), "plain"),
    readableFile(`${zshFunctions}/_transcribe`, zshScript(places), "plain"),
    readableFile("/usr/share/fish/vendor_completions.d/transcribe.fish", fishScript(places), "plain"),
    readableFile("/usr/share/man/man1/transcribe.1.gz", compressed(manPage(facts.version, day)), "documentation"),
    readableFile(`${DOCUMENTS}/examples/transcribe.toml`, exampleFile(), "documentation"),
    ...copiedDocuments(),
  ];
}

/** Returns the files that are copied from the checkout: the pages of the documentation, and examples. */
function copiedDocuments(): PackageFile[] {
  const read = (path: string) => new Uint8Array(readFileSync(join(root, path)));
  const document = (path: string, content: Uint8Array) => readableFile(join(DOCUMENTS, path), content, "documentation");
  const pages = readdirSync(join(root, "docs"), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".md"));
  return [
    ...pages.map((name) => document(name, read(join("docs", name)))),
    document("CHANGELOG.md.gz", compressed(read("CHANGELOG.md"))),
    document("examples/prometheus-alerts.yml", read("deploy/prometheus-alerts.yml")),
    document("examples/grafana.json", read("deploy/grafana/transcribe.json")),
  ];
}

/** Compresses a text with gzip, always into the same bytes. */
export function compressed(content: string | Uint8Array): Uint8Array {
  return Bun.gzipSync(new Uint8Array(Buffer.from(content)), { level: GZIP_LEVEL });
}

/** Returns the settings file in /etc. It is short, so that new defaults cause no question at an upgrade. */
function settingsFile(dataDirectory: string, runtimeDirectory: string): string {
  return `# Settings of the service. All settings with their defaults are listed in
# /usr/share/doc/transcribe/examples/transcribe.toml
# After a change: transcribe config check /etc/transcribe/transcribe.toml

[storage]
data_dir = ${JSON.stringify(dataDirectory)}
runtime_dir = ${JSON.stringify(runtimeDirectory)}
`;
}

/**
 * Returns the manual page transcribe(1) in the man macros of groff (groff_man(7)). It has the commands of docs/cli.md.
 * @param date day of the version, e.g. `2026-11-22`
 */
export function manPage(version: string, date: string): string {
  const commands = commandGroups().flatMap(({ heading, commands }) => [
    `.SH ${roff(heading.toUpperCase())}`,
    ...commands.flatMap(commandLines),
  ]);
  return `${[
    `.TH TRANSCRIBE 1 "${roff(date)}" "transcribe ${roff(version)}" "User Commands"`,
    ".SH NAME",
    roff("transcribe - self-hosted transcription appliance"),
    ".SH SYNOPSIS",
    ".B transcribe\n.I command\n.RI [ options ]\n.RI [ arguments ]",
    ".SH DESCRIPTION",
    roff(
      "Serves an API that turns recordings into transcripts with speaker labels, on this machine and without a network.",
    ),
    roff("The same program has the commands for operators and for clients of that API. Each has the option --help."),
    ...commands,
    ".SH EXIT STATUS",
    ...exitCodeMeanings.flatMap(([code, meaning]) => [".TP", `.B ${code}`, roff(meaning)]),
    ".SH FILES",
    ...files.flatMap(([path, meaning]) => [".TP", `.I ${roff(path)}`, roff(meaning)]),
    ".SH SEE ALSO",
    roff("The pages in /usr/share/doc/transcribe; index.md lists them."),
  ].join("\n")}\n`;
}

const files = [
  ["/etc/transcribe/transcribe.toml", "settings of the service"],
  ["/var/lib/transcribe", "recordings, transcripts, accounts and keys"],
  ["/usr/lib/transcribe", "the unpacked program, native parts and models"],
  ["/usr/share/doc/transcribe/examples/transcribe.toml", "all settings with their defaults"],
] as const;

function commandLines({ name, description, rows }: CommandHelp): string[] {
  const options = rows.flatMap(([option, meaning]) => [".TP", `.B ${roff(option)}`, roff(meaning || "-")]);
  return [`.SS transcribe ${roff(name)}`, roff(description), ...options];
}

/** Escapes a text, so that groff reads it as text: no control line, no escape, and hyphens that can be copied. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/\s+/g, " ")
    .replace(/^([.'])/, "\\&$1")
    .replaceAll('"', "\\(dq");
}
