// The scenarios of clients.integration.test.ts in TypeScript. Reads a list of stages from standard input, and prints a list of
// their outcomes, both as JSON.
import { openAsBlob } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import {
  ApiError,
  Client,
  type ClientOptions,
  NoAnswerError,
  RecordingFile,
  type Segment,
  TranscribeError,
  TranscriptionFailedError,
} from "transcribe-sdk";

/** The circumstances of a scenario. */
interface Stage {
  name: string;
  base_url: string;
  key: string;
  recording: string;
  directory: string;
  id: string;
}

const make = ({ base_url: baseUrl, key }: Stage, options: Partial<ClientOptions> = {}) =>
  new Client({ baseUrl, key, ...options });

/** Returns the facts of an error that programs decide by. */
async function errorOf({ key }: Stage, work: () => Promise<unknown>) {
  try {
    await work();
    return null;
  } catch (error) {
    if ([String(error), inspect(error, { depth: 9, showHidden: true })].join().includes(key))
      throw new Error("an error shows the key");
    if (!(error instanceof TranscribeError)) return { name: "other", text: String(error) };
    const { name } = error;
    if (error instanceof NoAnswerError) return { name, temporary: error.isTemporary };
    if (error instanceof TranscriptionFailedError) return { name, reason: error.transcription.failure_reason };
    if (!(error instanceof ApiError)) return { name };
    const { status, code, errors, required, retryAfterSeconds } = error;
    return {
      ...{ name, status, code, fields: Object.keys(errors), required },
      ...{ retry_after: retryAfterSeconds, has_request_id: error.requestId !== null },
    };
  }
}

async function collect<T>(entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

const scenarios: Record<string, (client: Client, stage: Stage) => Promise<unknown>> = {
  async create(client, { recording }) {
    const { id, source } = await client.create(recording, { language: "EN", prompt: "Zoë", speakers: 2 });
    return { id, name: source.name };
  },
  async bytes(client, { recording }) {
    const bytes = new Uint8Array(await readFile(recording));
    const created = [
      await client.create(bytes, { name: 'a "b"\n.mp3' }),
      await client.create(new Blob([bytes])),
      await client.create(await openAsBlob(recording), { name: "file.mp3" }),
    ];
    return created.map(({ source }) => source.name);
  },
  async link(client) {
    return (await client.create("https://example.org/talk.mp3#t=1")).source;
  },
  async same_key(client, { recording }) {
    const first = await client.create(recording, { idempotencyKey: "job-1" });
    const again = await client.create(recording, { idempotencyKey: "job-1" });
    return { is_same: first.id === again.id };
  },
  refused: (client, stage) => errorOf(stage, () => client.get(stage.id)),
  refused_once: (_, stage) => errorOf(stage, () => make(stage, { retrySeconds: 5 }).get(stage.id)),
  async languages(client) {
    return (await client.languages()).map(({ code }) => code);
  },
  bad_hint: (client, stage) => errorOf(stage, () => client.create(stage.recording, { speakers: 99 })),
  full: (_, stage) => errorOf(stage, () => make(stage, { retrySeconds: 0 }).create(stage.recording)),
  async missing_file(client, stage) {
    const error = await errorOf(stage, () => client.create("/none/none.mp3"));
    return { name: error?.name, is_named: error?.text?.includes("/none/none.mp3") };
  },
  nothing_listens: (client, stage) => errorOf(stage, () => client.languages()),
  unanswered: (_, stage) => errorOf(stage, () => make(stage, { timeoutSeconds: 0.5, retrySeconds: 0 }).get(stage.id)),
  async malformed(client, stage) {
    if (inspect(client, { depth: 9, showHidden: true }).includes(stage.key)) throw new Error("a client shows its key");
    const options: Partial<ClientOptions>[] = [{ key: "" }, { key: `${stage.key}\n` }, { baseUrl: "ftp://x" }];
    options.push({ baseUrl: `http://user:${stage.key}@x` }, { baseUrl: "x" });
    const errors = options.map((each) => errorOf(stage, async () => make(stage, each)));
    return (await Promise.all(errors)).map((error) => error?.name);
  },
  wait: async (client, { id }) => (await client.wait(id, { pollSeconds: 0.05 })).status,
  failed: (client, stage) => errorOf(stage, () => client.wait(stage.id, { pollSeconds: 0.05 })),
  async cancelled(client, stage) {
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error("enough"));
    const wait = () => client.wait(stage.id, { pollSeconds: 0.05, onProgress, signal: stop.signal });
    return (await errorOf(stage, wait))?.name;
  },
  async pages(client, { id }) {
    const segments: Segment[] = [];
    for await (const segment of client.segments(id, { words: true })) segments.push(segment);
    const last = segments.at(-1)?.words?.[0]?.text;
    let listed = 0;
    for await (const _ of client.list({ status: "completed" })) listed++;
    return { segments: segments.length, last, listed };
  },
  async exports(client, stage) {
    const { id, directory } = stage;
    await client.exportFile(id, `${directory}/a.srt`);
    const refused = await errorOf(stage, () => client.exportFile(id, `${directory}/a.mp3`));
    const { etag, mediaType, content } = await client.export(id, "txt");
    const again = await client.operations.exportTranscription(id, { format: "txt", if_none_match: etag ?? "" });
    return {
      files: await readdir(directory),
      srt: (await readFile(`${directory}/a.srt`, "utf8")).slice(0, 32),
      refused,
      media_type: mediaType,
      size: content.length,
      unchanged: again.isUnchanged,
    };
  },
  async delete(client, stage) {
    await client.delete(stage.id);
    return errorOf(stage, () => client.get(stage.id));
  },
  async editing(client, { id }) {
    const { editing } = client;
    const revision = await editing.correct(id, 0, [{ index: 0, text: "Changed.", speaker: "new" }]);
    const { data: speakers } = await editing.nameSpeakers(id, { A: "Ada", B: null });
    const conflict = await editing.correct(id, 0, [{ index: 0, text: "Other." }]).catch((error: unknown) => error);
    const [changed] = await collect(editing.segmentsAfter(id, revision));
    const [difference] = await collect(editing.differences(id, 0));
    const restored = await editing.restore(id, 0, revision);
    const actions = (await collect(editing.revisions(id))).map(({ action }) => action);
    const tags = await editing.setTags(id, ["board", "board"]);
    const tagged = (await collect(editing.tagged("board"))).map((found) => found.id === id);
    const found = await collect(editing.search("zzz", { tag: "board" }));
    return {
      ...{ revision, restored, actions, tags, tagged, found: found.length },
      speakers: speakers.map(({ name }) => name),
      conflict: conflict instanceof ApiError ? [conflict.code, conflict.changes?.revision] : null,
      texts: [changed?.text, difference?.before[0]?.text],
      latest: await editing.latestRevision(id),
      processing: (await editing.processing(id)).processing,
    };
  },
  async cancelled_by_request(client, stage) {
    const { status } = await client.editing.cancel(stage.id);
    return [status, await errorOf(stage, () => client.wait(stage.id, { pollSeconds: 0.05 }))];
  },
  delete_refused: (client, stage) => errorOf(stage, () => client.delete(stage.id)),
  async large(client, { recording }) {
    const before = process.resourceUsage().maxRSS;
    const file = new RecordingFile(recording);
    const created = await client.operations.createTranscription({ file }, { idempotency_key: "large" });
    return { name: created.source.name, megabytes: Math.round((process.resourceUsage().maxRSS - before) / 1024) };
  },
};

async function outcomeOf(stage: Stage) {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1000;
  try {
    const outcome = await scenarios[stage.name]?.(make(stage), stage);
    return { outcome, seconds: seconds() };
  } catch (error) {
    return { failure: inspect(error), seconds: seconds() };
  }
}

const stages = JSON.parse(await text(process.stdin)) as Stage[];
console.log(JSON.stringify(await Promise.all(stages.map(outcomeOf))));
