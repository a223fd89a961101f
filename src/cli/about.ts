import { Command, Option } from "commander";
import { ModelLibrary } from "../models/index.ts";
import { buildInfo, type Notice, notices, sbom } from "../program/index.ts";
import { DataPaths } from "../storage/index.ts";
import { ExpectedError } from "../text/index.ts";
import { type JsonOption, print } from "./output.ts";
import { becomeDataOwner, settingsCommand, settingsForAll } from "./settings-options.ts";

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
  const description =
    "Print the licence, the notice and the source of every part of this program, and the authors of installed models.";
  return settingsCommand("licenses", description)
    .addOption(new Option("--sbom", "print the bill of materials instead, a CycloneDX 1.6 document").conflicts("json"))
    .action(async (options: JsonOption & { readonly sbom?: boolean }, command: Command) => {
      if (options.sbom === true) {
        process.stdout.write(await sbom());
        return;
      }
      const all = await notices();
      print(options, all, () => forPeople(all, installedAttributions(command)));
    });
}

/**
 * Returns the texts that name the authors of installed models, as far as a licence requires it. The program's own notices
 * are printed even if the settings or the data directory cannot be used.
 */
function installedAttributions(command: Command): string[] {
  try {
    const settings = settingsForAll(command);
    becomeDataOwner(settings);
    return new ModelLibrary(new DataPaths(settings.storage.data_dir).models).attributions();
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    return [`The authors of installed models cannot be listed: ${error.message}`];
  }
}

/** Formats the notices for people. Parts with the same text are listed together above it. */
function forPeople(all: readonly Notice[], attributions: readonly string[]): string {
  const heading = ({ name, version, licence, source }: Notice) => `${name} ${version} · ${licence}\n    ${source}`;
  const sections = [...Map.groupBy(all, ({ text }) => text)].map(
    ([text, parts]) => `${rule}\n${parts.map(heading).join("\n")}\n${rule}\n\n${text.trim()}\n`,
  );
  const models = "Speech models that you install have licences of their own: transcribe models list";
  return `${all.length} parts, each under its own licence.\n${[models, ...attributions].join("\n")}\n\n${sections.join("\n")}`;
}
