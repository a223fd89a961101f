import type { TranscriptionResource } from "../../http/index.ts";
import { CommandError } from "../command-error.ts";
import { ApiClient, ClientError, type WaitOptions } from "./client.ts";
import { ProgressView, segmentLines } from "./transcript-view.ts";

export interface TranscribeFileOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly file: string;
  readonly language?: string | undefined;
  readonly json: boolean;
  readonly everySeconds?: number | undefined;
}

const failures: Record<NonNullable<TranscriptionResource["failure_reason"]>, string> = {
  no_speech: "nobody speaks in this recording",
  too_short: "the recording is shorter than half a second",
  quota_exceeded: "the account has no allowance left today",
  internal: "the service could not process it; the server's log says why",
};

/** Sends a recording, shows how far it is, and prints the transcript. */
export async function transcribeFile(options: TranscribeFileOptions): Promise<void> {
  if (!(await Bun.file(options.file).exists())) throw new CommandError(`there is no file ${options.file}`);
  const client = new ApiClient(options.baseUrl, options.key);
  const view = new ProgressView();
  view.show("upload", null);
  try {
    const created = await client.create(options.file, options.language);
    const waiting: WaitOptions = {
      onProgress: ({ status, progress }) => view.show(progress.step ?? status, progress.percent),
      ...(options.everySeconds === undefined ? {} : { everySeconds: options.everySeconds }),
    };
    const ended = await client.wait(created.id, waiting);
    view.end();
    if (ended.status === "failed") throw new ClientError(failures[ended.failure_reason ?? "internal"], null);
    await printTranscript(client, ended, options.json);
  } finally {
    view.end();
  }
}

async function printTranscript(client: ApiClient, transcription: TranscriptionResource, json: boolean): Promise<void> {
  const segments = await Array.fromAsync(client.segments(transcription.id));
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...transcription, segments }, null, 2)}\n`);
    return;
  }
  const width = process.stdout.columns ?? 100;
  for (const segment of segments) process.stdout.write(`${segmentLines(segment, width)}\n`);
}
