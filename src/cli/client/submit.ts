import { Command } from "commander";
import type { ExportFormat } from "../../exports/index.ts";
import { addOutputOptions, planOutputs } from "../results/index.ts";
import { seconds } from "../whole-number.ts";
import { addServerOptions, connect } from "./connection.ts";
import { transcribeFiles } from "./transcribe-files.ts";

interface SubmitOptions {
  readonly wait?: boolean;
  readonly language?: string;
  readonly format?: ExportFormat;
  readonly output?: string;
  readonly force?: boolean;
  readonly every?: number;
  readonly json?: boolean;
}

/** transcribe submit FILE|URL… */
export function submitCommand(): Command {
  const sending = new Command("submit")
    .description("Send recordings to a server; with --wait, or a place for the transcripts, wait for them.")
    .argument("<recording...>", "files, audio or video, or http(s) links")
    .option("-w, --wait", "wait for the end and print who said what; else the ids are printed")
    .option("--language <code>", "ISO code of the language that is spoken (default: found out)");
  const command = addOutputOptions(sending)
    .option("--every <seconds>", "pause between polls (default: as the API recommends)", seconds)
    .option("--json", "print as JSON, for each recording: input, transcription, segments, output, error");
  return addServerOptions(command).action(async (inputs: string[], options: SubmitOptions) => {
    const { language, json = false, force = false, every } = options;
    const outputs = planOutputs(inputs, { ...options, force });
    const jobs = inputs.map((input, index) => ({ input, output: outputs[index] ?? null }));
    const wait = options.wait === true || jobs.some(({ output }) => output !== null);
    const client = await connect(command);
    await transcribeFiles({ ...{ client, jobs, language, wait, json, force }, everySeconds: every });
  });
}
