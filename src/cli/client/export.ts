import { Command, Option } from "commander";
import { type ExportFormat, exportFormats } from "../../exports/index.ts";
import { planOutputs, standardOutput } from "../plan-outputs.ts";
import { writeOutput } from "../write-output.ts";
import { addServerOptions, withClient } from "./connection.ts";

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
      new Option("--format <format>", "file format (default: by the extension of the output, else txt)").choices(
        Object.keys(exportFormats),
      ),
    )
    .option("-o, --output <path>", "a file, or DIRECTORY/; - is standard output", standardOutput)
    .option("--force", "overwrite an existing file");
  return addServerOptions(command).action((id: string, options: ExportOptions) =>
    withClient(command, async (client) => {
      const force = options.force === true;
      const [output] = planOutputs([id], { ...options, force });
      const { format, path } = output ?? { format: "txt", path: standardOutput };
      await writeOutput(path, await client.export(id, format), force);
    }),
  );
}
