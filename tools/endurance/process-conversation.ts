import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { TestClient } from "../../harness/client.ts";
import { runCli, TestServer } from "../../harness/server.ts";
import { openDatabase } from "../../src/database/index.ts";
import { Checkpoints } from "../../src/recordings/index.ts";
import type { Chunk, EngineWord } from "../../src/timeline/index.ts";
import type { LongConversation } from "./long-conversation.ts";
import { readResults, ServerWatch, sizeOf } from "./watch-server.ts";

const POLL_MILLISECONDS = 250;

/** Limits that admit recordings of many hours. */
const SETTINGS = {
  TRANSCRIBE_LOG_LEVEL: "info",
  TRANSCRIBE_LIMITS_UPLOAD_BYTES: "8 GiB",
  TRANSCRIBE_LIMITS_RECORDING_SECONDS: "100000",
  TRANSCRIBE_LIMITS_AUDIO_MINUTES_PER_DAY: "1000000",
} as const;

/**
 * Sends a recording to a server, waits for its completion, and reads its pages and exports.
 * @param withWhisper false stops the server after speech detection, writes the known words, and continues from there
 * @returns what was read, and the size of the data directory before the recording and after reading its results. The
 * phases of the watch are the steps, and the reading of pages and exports
 */
export async function processConversation(
  talk: LongConversation,
  withWhisper: boolean,
  reportProgress: (text: string) => void,
) {
  await using server = new TestServer(SETTINGS);
  await server.start();
  let client = server.client("hours");
  const diskBefore = sizeOf(server.dataDirectory);
  using watch = new ServerWatch(server, reportProgress);
  const id = await watch.run("send", () => submit(server, client, talk.path));
  let isPrepared = withWhisper;
  for (;;) {
    const { status, progress } = await watch.poll(() => client.get(id));
    watch.begin(status === "processing" ? (progress.step ?? "") : "");
    if (status === "failed") throw new Error(`the recording failed\n${server.tail()}`);
    if (status === "completed") break;
    if (progress.step === "transcribe" && !isPrepared) {
      watch.begin("");
      await server.stop();
      writeWords(server, id, talk.words);
      isPrepared = true;
      await server.start();
      client = new TestClient(server.baseUrl, client.key);
    }
    await Bun.sleep(POLL_MILLISECONDS);
  }
  const reading = await readResults(watch, client, id);
  return { ...reading, talk, diskBefore, diskAfter: sizeOf(server.dataDirectory) };
}

export type Processed = Awaited<ReturnType<typeof processConversation>>;

/** Uploads the recording with the CLI, streamed from disk. @returns its id */
async function submit(server: TestServer, client: TestClient, path: string): Promise<string> {
  const { exitCode, stdout, stderr } = await runCli(
    ["submit", path, "--language", "en", "--json", "--server", server.origin],
    { TRANSCRIBE_API_KEY: client.key },
  );
  if (exitCode !== 0) throw new Error(`the recording could not be uploaded: ${stderr}`);
  const id = /"id":\s*"([0-9a-f-]{36})"/.exec(stdout)?.[1];
  if (id === undefined) throw new Error(`the upload returned no id: ${stdout}`);
  return id;
}

/** Writes the words as checkpoints of the chunks that the stopped server has planned. */
function writeWords(server: TestServer, id: string, words: readonly EngineWord[]): void {
  const path = join(server.dataDirectory, "transcribe.db");
  using database = new Database(path, { readonly: true });
  const row = database
    .query<{ payload: string }, [string]>("SELECT payload FROM checkpoints WHERE recording_id = ? AND step = 'plan'")
    .get(id);
  const { chunks } = JSON.parse(row?.payload ?? "{}") as { chunks: Chunk[] };
  const store = openDatabase(path);
  const checkpoints = new Checkpoints(store, id);
  let next = 0;
  store.transaction(() => {
    for (const [part, chunk] of chunks.entries()) {
      const own: EngineWord[] = [];
      for (; (words[next]?.startSeconds ?? Number.POSITIVE_INFINITY) < chunk.endSeconds; next++) {
        const word = words[next] as EngineWord;
        if (word.endSeconds > chunk.startSeconds) own.push(word);
      }
      checkpoints.write("transcribe", part, Type.Any(), { words: own, languages: { en: own.length } });
    }
  });
  store.$client.close();
}
