import { Command, Option } from "commander";
import { buildInfo, type Notice, notices, sbom } from "../program/index.ts";
import { type JsonOption, print } from "./output.ts";

/** transcribe version */
export function versionCommand(): Command {
  return new Command("version")
    .description("Print the version, with --json the versions of its parts and the digests of its models.")
    .option("--json", "print the result as JSON")
    .action(async (options: JsonOption) => {
      const build = await buildInfo();
      print(options, build, () => `transcribe ${build.version} (commit ${build.commit}, ${build.target})`);
    });
}

const rule = "─".repeat(80);

/** transcribe licenses */
export function licensesCommand(): Command {
  return new Command("licenses")
    .description("Print the licence, the notice and the source of every part of this program.")
    .option("--json", "print the result as JSON")
    .addOption(new Option("--sbom", "print the bill of materials instead, a CycloneDX 1.6 document").conflicts("json"))
    .action(async (options: JsonOption & { readonly sbom?: boolean }) => {
      if (options.sbom === true) {
        process.stdout.write(await sbom());
        return;
      }
      const all = await notices();
      print(options, all, () => forPeople(all));
    });
}

/** Formats the notices for people. Parts with the same text are listed together above it. */
function forPeople(all: readonly Notice[]): string {
  const heading = ({ name, version, licence, source }: Notice) => `${name} ${version} · ${licence}\n    ${source}`;
  const sections = [...Map.groupBy(all, ({ text }) => text)].map(
    ([text, parts]) => `${rule}\n${parts.map(heading).join("\n")}\n${rule}\n\n${text.trim()}\n`,
  );
  const models = "Speech models that you install have licences of their own: transcribe models list";
  return `${all.length} parts, each under its own licence.\n${models}\n\n${sections.join("\n")}`;
}
