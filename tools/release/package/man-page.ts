import { type CommandHelp, commandGroups, exitCodeMeanings } from "../../development/docs/commands.ts";

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
