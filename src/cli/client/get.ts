import { Command } from "commander";
import type { TranscriptionResource } from "../../http/index.ts";
import { facts, type JsonOption, print } from "../output.ts";
import { transcriptText } from "../recording-texts.ts";
import { addServerOptions, withClient } from "./connection.ts";

/** transcribe get ID */
export function getCommand(): Command {
  const command = new Command("get")
    .description("Show a recording and its progress, with --segments its transcript.")
    .argument("<id>", "the recording's id")
    .option("--segments", "print the transcript, too; the recording must be completed")
    .option("--json", "print the transcription as JSON, with --segments its segments in it");
  return addServerOptions(command).action((id: string, options: JsonOption & { segments?: boolean }) =>
    withClient(command, async (client) => {
      const transcription = await client.get(id);
      const segments = options.segments === true ? await client.segments(id) : null;
      print(options, segments === null ? transcription : { ...transcription, segments }, () => {
        const record = describe(transcription);
        return segments === null ? record : `${record}\n\n${transcriptText(segments).trimEnd()}`;
      });
    }),
  );
}

function describe({ progress, source, workspace, ...rest }: TranscriptionResource): string {
  return facts({
    id: rest.id,
    status: rest.status,
    step: progress.step,
    percent: progress.percent,
    failure_reason: rest.failure_reason,
    source: source.name ?? source.url,
    language: rest.language,
    duration_seconds: rest.duration_seconds,
    workspace: workspace?.name,
    created_at: rest.created_at,
    updated_at: rest.updated_at,
  });
}
