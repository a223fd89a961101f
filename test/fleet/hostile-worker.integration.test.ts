import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { Params } from "../../src/engine/index.ts";
import { Broker, FleetDirectory, FleetEngine } from "../../src/fleet/index.ts";
import { encode, pack, parse, replySchema, unpack, type Work, workSchema } from "../../src/fleet/messages.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { ScriptedEngine } from "./scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("a hostile worker with a valid certificate");
const log = createLogger("silent");
const never = new AbortController().signal;
const MODEL = "a".repeat(64);
const SAMPLES = 32_000;
const machines = ["w1", "w2", "w3", "w4"];

const word = { text: "word", startSeconds: 0, endSeconds: 1, probability: 1 };
const done = (result: unknown) => ({ type: "done", result }) as const;
const honest = done({ words: [word], languages: { en: 1 } });
const answer = (id: string, outcome: unknown, others: object = {}, contents: readonly Uint8Array[] = []) =>
  pack({ id, outcome, device: "cpu", gpu: "", seconds: 1, attachments: [], ...others } as never, contents);
const manySamples = { item: { kind: "pcm", firstSample: 0, sampleCount: 4 }, bytes: 8 };

/** Answers to an operation that must be refused. A machine that sends three is paused, so each sends at most two. */
const tampered: readonly [string, (id: string) => Uint8Array][] = [
  ["no message at all", () => new Uint8Array()],
  ["a header longer than the message", () => new Uint8Array([255, 255, 255, 255, 1, 2, 3])],
  ["a result of another shape", (id) => answer(id, done({ words: "all of them", languages: {} }))],
  ["a word without an end", (id) => answer(id, done({ words: [{ ...word, endSeconds: null }], languages: {} }))],
  [
    "a word after the recording's end",
    (id) => answer(id, done({ words: [{ ...word, endSeconds: 1e9 }], languages: {} })),
  ],
  ["samples for the recording", (id) => answer(id, honest, { attachments: [manySamples] }, [new Uint8Array(8)])],
  ["fewer bytes than it names", (id) => answer(id, honest, { attachments: [manySamples] }, [new Uint8Array(4)])],
  ["a negative duration", (id) => answer(id, honest, { seconds: -1 })],
];

describe.skipIf(program === null)("a worker with a valid certificate", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "fleet");
  const area = join(directory.path, "area");
  const pcm = { path: join(directory.path, "pcm"), sampleCount: SAMPLES };
  const samples = crypto.getRandomValues(new Uint8Array(2 * SAMPLES));
  let server: NatsServer;

  beforeAll(async () => {
    mkdirSync(area);
    writeFileSync(pcm.path, samples);
    await FleetDirectory.create(path, { broker: ["127.0.0.1"], port: 4222, workers: machines }, Date.now());
    server = await NatsServer.withFolder(program ?? "", join(path, "broker")).start();
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  const filesOf = (machine: string) => {
    const at = (name: string) => join(path, machine, name);
    return { ca: at("ca.pem"), certificate: at("certificate.pem"), key: at("key.pem") };
  };

  async function coordinator(stack: AsyncDisposableStack) {
    const broker = await Broker.connect({ url: server.url, ...filesOf("coordinator"), machine: "coordinator", log });
    stack.defer(() => broker.close());
    const engine = new FleetEngine({
      ...{ build: "test", version: "1", now: Date.now, log, onCompletion: () => {}, broker },
      ...{ local: new ScriptedEngine(1), workHere: false, coordinator: "c1", machine: "own" },
      sha256Of: () => MODEL,
      models: () => [MODEL],
    });
    stack.defer(() => engine.close());
    await engine.start();
    return engine;
  }

  /** Connects as a program that has a machine's files, and reports one lane. */
  async function intrude(machine: string, stack: AsyncDisposableStack): Promise<NatsConnection> {
    const { ca, certificate, key } = filesOf(machine);
    const tls = { caFile: ca, certFile: certificate, keyFile: key };
    const connection = await connect({ servers: server.url, tls, inboxPrefix: `_INBOX.${machine}`, reconnect: false });
    stack.defer(() => connection.close());
    const presence = {
      ...{ machine, instance: "i", version: "1", build: "test", models: [MODEL], devices: ["CPU"] },
      ...{ lanes: 1, busy: 0, clock: Date.now(), trouble: null, leaves: false },
    };
    connection.publish(`transcribe.presence.${machine}`, encode(presence));
    return connection;
  }

  /** Fetches the next operation and starts it. */
  async function start(connection: NatsConnection, machine: string): Promise<Work> {
    const consumer = await jetstream(connection).consumers.get("TRANSCRIBE_WORK", `work-test-${MODEL}`);
    const message = await consumer.next({ expires: 20_000 });
    if (message === null) throw new Error("no operation arrives");
    message.ack();
    const { header } = unpack(workSchema, message.data);
    expect(
      await ask(connection, `transcribe.started.c1.${machine}`, encode({ id: header.id, starts: true, delivery: 1 })),
    ).toBe("go");
    return header;
  }

  async function ask(connection: NatsConnection, subject: string, message: Uint8Array): Promise<string> {
    return parse(replySchema, (await connection.request(subject, message, { timeout: 20_000 })).data).verdict;
  }

  const params: Params<"transcribe"> = {
    ...{ area: { directory: area, pcm }, model: "/model", language: "en" },
    chunk: { startSeconds: 0, endSeconds: 1, speech: [{ startSeconds: 0, endSeconds: 1 }] },
  };

  test("spoils no result with an invalid answer: each is refused and counted, and changes no file", async () => {
    await using stack = new AsyncDisposableStack();
    const engine = await coordinator(stack);
    const verdicts: string[] = [];
    for (const [at, [, bytes]] of tampered.entries()) {
      const machine = machines[Math.floor(at / 2)] ?? "";
      await using own = new AsyncDisposableStack();
      const connection = await intrude(machine, own);
      const subject = `transcribe.result.c1.${machine}`;
      const running = engine.run("transcribe", params, never);
      const { id } = await start(connection, machine);
      verdicts.push(await ask(connection, subject, bytes(id)));
      expect(engine.counts.refusedResults).toBe(at + 1);
      // An answer that names its operation makes the coordinator publish it again.
      if ((await ask(connection, subject, answer(id, honest))) === "late") {
        const again = await start(connection, machine);
        expect(await ask(connection, subject, answer(again.id, honest))).toBe("go");
      }
      expect((await running).words).toEqual([word]);
    }
    expect(verdicts).toEqual(tampered.map(() => "refused"));
    expect(Buffer.compare(readFileSync(pcm.path), samples)).toBe(0);
    expect(readdirSync(area)).toEqual([]);
    expect(engine.load()).toMatchObject({ waiting: 0, published: 0 });
  });

  test("answers for no operation of another machine, and none that it was not given", async () => {
    await using stack = new AsyncDisposableStack();
    const engine = await coordinator(stack);
    const [first, second] = [await intrude("w1", stack), await intrude("w2", stack)];
    const running = engine.run("transcribe", params, never);
    const { id } = await start(first, "w1");
    const other = answer(id, done({ words: [{ ...word, text: "forged" }], languages: {} }));
    expect(await ask(second, "transcribe.result.c1.w2", other)).toBe("late");
    expect(await ask(second, "transcribe.result.c1.w2", answer("c1-1", honest))).toBe("late");
    expect(await ask(first, "transcribe.result.c1.w1", answer(id, honest))).toBe("go");
    expect((await running).words).toEqual([word]);
    expect(engine.counts.lateResults).toBe(2);
  });

  test("the broker's files contain no samples", () => {
    const part = samples.slice(1000, 1032);
    const folders = [path, server.directory];
    const files = folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => readFileSync(file).includes(part))).toEqual([]);
    // The samples are where they belong.
    expect(readFileSync(pcm.path).includes(part)).toBe(true);
  });
});
