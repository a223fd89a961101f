import { Command } from "commander";
import { seconds } from "../parse-option.ts";
import { addOutputOptions, type OutputOptions, planOutputs } from "../plan-outputs.ts";
import { addServerOptions, connectionOf } from "./connection.ts";
import { transcribeFiles } from "./transcribe-files.ts";

interface SubmitOptions extends OutputOptions {
  readonly wait?: boolean;
  readonly language?: string;
  readonly every?: number;
}

/** transcribe submit FILE|URL… */
export function submitCommand(): Command {
  const sending = new Command("submit")
    .description("Send recordings to a server; with --wait or an output, wait for their transcripts.")
    .argument("<recording...>", "audio or video files, or http(s) links")
    .option("-w, --wait", "wait until all are completed and print the transcripts; else the ids are printed")
    .option("--language <code>", "ISO code of the spoken language (default: detected)");
  const command = addOutputOptions(sending)
    .option("--every <seconds>", "pause between polls (default: as the API recommends)", seconds)
    .option("--json", "print as JSON, for each recording: input, transcription, segments, output, error");
  return addServerOptions(command).action(async (inputs: string[], options: SubmitOptions) => {
    const { language, json = false, force = false, every } = options;
    const outputs = planOutputs(inputs, options);
    const jobs = inputs.map((input, index) => ({ input, output: outputs[index] ?? null }));
    const wait = options.wait === true || jobs.some(({ output }) => output !== null);
    const connection = await connectionOf(command);
    await transcribeFiles({ connection, jobs, language, wait, json, force, everySeconds: every });
  });
}
