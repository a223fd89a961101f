// The scenarios of live.integration.test.ts in TypeScript. Reads a list of stages from standard input, and prints a list of
// their outcomes, both as JSON.
import { text } from "node:stream/consumers";
import { inspect } from "node:util";
import {
  ApiError,
  Client,
  type ClientOptions,
  LiveClosedError,
  type LiveEvent,
  type LiveParameters,
  type LiveSession,
  NoAnswerError,
  TranscribeError,
} from "transcribe-sdk";

/** The circumstances of a scenario. */
interface Stage {
  name: string;
  base_url: string;
  key: string;
  /** Seconds of sound to send. */
  seconds: number;
  /** Whether the WebSocket is that of the package ws. */
  ws: boolean;
}

/** Bytes of 100 ms of sound. */
const CHUNK_BYTES = 3200;

async function make({ base_url: baseUrl, key, ws }: Stage): Promise<Client> {
  const options: ClientOptions = { baseUrl, key, timeoutSeconds: 20 };
  const name: string = "ws";
  return new Client(ws ? { ...options, webSocket: (await import(name)).WebSocket } : options);
}

/** Returns sound in which each sample is different from its neighbours. */
function soundOf(seconds: number): Int16Array<ArrayBuffer> {
  return Int16Array.from({ length: 16_000 * seconds }, (_, index) => (index * 7919) % 30_011);
}

async function sendAll(session: LiveSession, seconds: number): Promise<void> {
  const bytes = new Uint8Array(soundOf(seconds).buffer);
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    await session.send(bytes.subarray(at, at + CHUNK_BYTES));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Returns the facts of an error that programs decide by. */
function factsOf({ key }: Stage, error: unknown) {
  if ([String(error), inspect(error, { depth: 9, showHidden: true })].join().includes(key))
    throw new Error("an error shows the key");
  if (!(error instanceof TranscribeError)) return { name: "other", text: String(error) };
  const { name } = error;
  if (error instanceof NoAnswerError) return { name, temporary: error.isTemporary };
  if (error instanceof LiveClosedError) return { name, close_code: error.closeCode, text: error.message };
  if (error instanceof ApiError)
    return { name, status: error.status, code: error.code, retry_after: error.retryAfterSeconds };
  return { name };
}

/** Sends sound and reads the events. @returns what programs see of them */
async function run(stage: Stage, parameters: LiveParameters, work: (session: LiveSession) => Promise<void>) {
  const session = await (await make(stage)).live(parameters);
  const events: LiveEvent[] = [];
  const failures: unknown[] = [];
  const note = (error: unknown) => void failures.push(factsOf(stage, error));
  const read = async () => {
    for await (const event of session) events.push(event);
  };
  await Promise.all([work(session).catch(note), read().catch(note)]);
  const speakers = events.flatMap((event) => {
    if (event.type === "speakers") return event.speakers;
    if (event.type !== "final" || event.segment.speaker === null) return [];
    return [{ segment: event.segment.number, speaker: event.segment.speaker }];
  });
  return {
    finals: events.flatMap((event) => (event.type === "final" ? [event.segment.text] : [])),
    speakers: speakers.map(({ segment, speaker }) => `${segment} ${speaker}`),
    connection: events.map(({ type }) => type).filter((type) => type === "session" || type === "disconnected"),
    partials: events.filter(({ type }) => type === "partial").length,
    other: events.map(({ type }) => type).filter((type) => ["cleared", "committed", "turn_completed"].includes(type)),
    last: events.at(-1),
    failures,
  };
}

const scenarios: Record<string, (stage: Stage) => Promise<unknown>> = {
  words: (stage) =>
    run(stage, { language: "en", prompt: "Zoë, Ada", name: "Talk & more" }, async (session) => {
      await sendAll(session, stage.seconds);
      await session.end();
    }),
  unkept: (stage) =>
    run(stage, { keep: false }, async (session) => {
      await sendAll(session, 1);
      await session.end();
    }),
  /** Sends messages between sound, and sound in pieces that divide samples. */
  messages: (stage) =>
    run(stage, { turns: "manual" }, async (session) => {
      const bytes = new Uint8Array(soundOf(2).buffer);
      await session.send(bytes.subarray(0, 32_001));
      session.commit();
      await session.send(bytes.subarray(32_001, 32_001).buffer.slice(32_001, 40_000));
      session.clear();
      session.update({ language: null, silence_ms: 700 });
      session.nameSpeaker("S1", "Anna");
      await session.send(bytes.subarray(40_000));
      await session.end();
    }),
  refused: (stage) => run(stage, {}, async () => {}).catch((error: unknown) => factsOf(stage, error)),
  /** Closes the session without an end, after which it can't be used. */
  closed: (stage) =>
    run(stage, {}, async (session) => {
      await session.send(soundOf(1));
      session.close();
      await session.send(soundOf(1));
    }),
  after_end: (stage) =>
    run(stage, {}, async (session) => {
      await session.end();
      await session.send(soundOf(1));
    }),
};

async function outcomeOf(stage: Stage) {
  try {
    return { outcome: await scenarios[stage.name]?.(stage) };
  } catch (error) {
    return { failure: inspect(error) };
  }
}

const stages = JSON.parse(await text(process.stdin)) as Stage[];
console.log(JSON.stringify(await Promise.all(stages.map(outcomeOf))));
process.exit(0);
