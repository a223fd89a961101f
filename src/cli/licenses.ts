import { Command } from "commander";
import { type Notice, notices } from "../program/index.ts";
import { print } from "./output.ts";

const rule = "─".repeat(80);

/** transcribe licenses */
export function licensesCommand(): Command {
  return new Command("licenses")
    .description("Print the licence and notice of every part of this program, and where its source is.")
    .option("--json", "as a list")
    .action(async ({ json = false }: { json?: boolean }) => {
      const all = await notices();
      print(json, all, () => forPeople(all));
    });
}

/** Formats the notices for people. Parts with the same text are listed together above it. */
function forPeople(all: readonly Notice[]): string {
  const byText = Map.groupBy(all, ({ text }) => text);
  const sections = [...byText].map(
    ([text, parts]) => `${rule}\n${parts.map(heading).join("\n")}\n${rule}\n\n${text.trim()}\n`,
  );
  return `${all.length} parts, each under its own licence.\n\n${sections.join("\n")}`;
}

function heading({ name, version, licence, source }: Notice): string {
  return `${name} ${version} · ${licence}\n    ${source}`;
}
