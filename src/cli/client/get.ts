import { Command } from "commander";
import type { TranscriptionResource } from "../../http/index.ts";
import { print } from "../output.ts";
import { printable } from "../printable.ts";
import { addServerOptions } from "./connection.ts";
import { readSegments } from "./read-segments.ts";
import { inSession } from "./session.ts";
import { transcriptText } from "./transcript-view.ts";

interface GetOptions {
  readonly segments?: boolean;
  readonly json?: boolean;
}

/** transcribe get ID */
export function getCommand(): Command {
  const command = new Command("get")
    .description("Show a recording, how far it is, and with --segments what was said.")
    .argument("<id>", "the recording's id")
    .option("--segments", "print the transcript too; the recording must be completed")
    .option("--json", "print the transcription as JSON, with --segments its segments in it");
  return addServerOptions(command).action((id: string, { segments, json }: GetOptions) =>
    inSession(command, async ({ client, persistence, signal }) => {
      const transcription = await persistence.run(() => client.get(id, signal));
      const found = segments === true ? await readSegments(client, persistence, id) : null;
      const shown = found === null ? transcription : { ...transcription, segments: found };
      print(json === true, shown, () => {
        const record = describe(transcription);
        return found === null ? record : `${record}\n\n${transcriptText(found).trimEnd()}`;
      });
    }),
  );
}

function describe({ progress, source, workspace, ...rest }: TranscriptionResource): string {
  const facts = {
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
  };
  return Object.entries(facts)
    .map(([name, value]) => `${name.padEnd(18)}${printable(String(value ?? "-"))}`)
    .join("\n");
}
