import { Command, Option } from "commander";
import { type ExportFormat, exportFormats } from "../../exports/index.ts";
import { planOutputs, standardOutput, writeOutput } from "../results/index.ts";
import { addServerOptions } from "./connection.ts";
import { inSession } from "./session.ts";

interface ExportOptions {
  readonly format?: ExportFormat;
  readonly output?: string;
  readonly force?: boolean;
}

/** transcribe export ID */
export function exportCommand(): Command {
  const command = new Command("export")
    .description("Save the transcript of a completed recording as a file.")
    .argument("<id>", "the recording's id")
    .addOption(
      new Option("--format <format>", "kind of file (default: as the output's name ends, else txt)").choices(
        Object.keys(exportFormats),
      ),
    )
    .option("-o, --output <path>", "file, or DIRECTORY/; - is standard output", standardOutput)
    .option("--force", "overwrite a file that is there");
  return addServerOptions(command).action((id: string, options: ExportOptions) =>
    inSession(command, async ({ client, persistence, signal }) => {
      const force = options.force === true;
      const [output] = planOutputs([id], { ...options, force });
      const { format, path } = output ?? { format: "txt", path: standardOutput };
      await writeOutput(path, await persistence.run(() => client.export(id, format, signal)), force);
    }),
  );
}
