import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection, PermissionViolationError } from "@nats-io/transport-node";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { OperationName, Result } from "../../src/engine/index.ts";
import {
  Broker,
  FleetDirectory,
  FleetEngine,
  FleetWorker,
  type FleetWorkerOptions,
  fleetStatus,
  type LocalEngine,
} from "../../src/fleet/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { filesOf } from "./scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of a fleet's certificates with a real broker");
const log = createLogger("silent");
const never = new AbortController().signal;
const MODEL = "a".repeat(64);
const NEW = { broker: ["127.0.0.1"], port: 4222, workers: ["w1", "w2"] };

/** An engine that recognizes one word at once. */
const engineOfOneWord: LocalEngine = {
  lanes: 1,
  partsAtOnce: 1,
  run: async <N extends OperationName>() => {
    const words = [{ text: "word", startSeconds: 0, endSeconds: 1, probability: 1 }];
    return { words, languages: { en: 1 } } as unknown as Result<N>;
  },
};

describe.skipIf(program === null)("a broker with the files of a fleet's directory", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "fleet");
  const foreign = join(directory.path, "foreign");
  let server: NatsServer;

  beforeAll(async () => {
    await FleetDirectory.create(path, { ...NEW, workers: [...NEW.workers, "w3", "w4", "leaver"] }, Date.now());
    await FleetDirectory.create(foreign, NEW, Date.now());
    server = await NatsServer.withFolder(program ?? "", join(path, "broker")).start();
  });

  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });

  async function brokerFor(machine: string, stack: AsyncDisposableStack, from = path, url = server.url) {
    const broker = await Broker.connect({ url, ...filesOf(from, machine), machine, log });
    stack.defer(() => broker.close());
    return broker;
  }

  /** Connects like a hostile program that has a machine's files. */
  async function intruder(machine: string, stack: AsyncDisposableStack, from = path) {
    const { ca, certificate, key } = filesOf(from, machine);
    const tls = { caFile: join(path, "ca.pem"), certFile: certificate, keyFile: key };
    expect(existsSync(ca)).toBe(true);
    const connection = await connect({ servers: server.url, tls, inboxPrefix: `_INBOX.${machine}`, reconnect: false });
    stack.defer(() => connection.close());
    return connection;
  }

  async function coordinator(stack: AsyncDisposableStack) {
    const engine = new FleetEngine({
      ...{ build: "1-test", version: "1", now: Date.now, log, onCompletion: () => {} },
      ...{ local: engineOfOneWord, workHere: false, coordinator: "c1", machine: "own" },
      broker: await brokerFor("coordinator", stack),
      sha256Of: () => MODEL,
      models: () => [MODEL],
    });
    stack.defer(() => engine.close());
    await engine.start();
    return engine;
  }

  async function worker(machine: string, stack: AsyncDisposableStack, others: Partial<FleetWorkerOptions> = {}) {
    const work = join(directory.path, `work-${machine}`);
    mkdirSync(work, { recursive: true });
    const made = new FleetWorker({
      ...{ build: "1-test", version: "1", now: Date.now, log, machine, instance: "i", directory: work },
      broker: await brokerFor(machine, stack),
      engine: engineOfOneWord,
      models: () => [{ path: "/model", sha256: MODEL, prepare: async () => null }],
      status: () => ({ devices: ["CPU"], trouble: null }),
      device: () => ({ device: "cpu", gpu: "" }),
      ...others,
    });
    stack.defer(() => made.stop());
  }

  test("lets the coordinator distribute an operation to a worker", async () => {
    await using stack = new AsyncDisposableStack();
    const engine = await coordinator(stack);
    await worker("w1", stack);
    const pcm = join(directory.path, "pcm");
    writeFileSync(pcm, new Int16Array(32_000));
    const result = await engine.run(
      "transcribe",
      {
        area: { directory: directory.path, pcm: { path: pcm, sampleCount: 32_000 } },
        ...{ model: "/model", language: "en" },
        chunk: { startSeconds: 0, endSeconds: 1, speech: [{ startSeconds: 0, endSeconds: 1 }] },
      },
      never,
    );
    expect(result.words.map(({ text }) => text)).toEqual(["word"]);
    expect(engine.machines().map(({ machine, problem }) => [machine, problem])).toEqual([["w1", null]]);
  });

  test("shows the coordinator all workers with their problems, and shows a worker nothing", async () => {
    await using stack = new AsyncDisposableStack();
    const own = { version: "1", build: "1-test" };
    const see = async (machine: string) => fleetStatus(await brokerFor(machine, stack), own, Date.now);
    await expect(see("w1")).rejects.toThrow("run transcribe fleet status on the coordinator's machine");
    await coordinator(stack);
    await worker("w1", stack);
    await worker("w2", stack, { build: "0-old", version: "0" });
    await worker("w3", stack, { now: () => Date.now() - 3_600_000 });
    await worker("w4", stack, { models: () => [] });
    const { coordinator: found, machines } = await see("coordinator");
    expect(found).toMatchObject({ version: "1", build: "1-test", models: [MODEL], workHere: false });
    expect(machines.map(({ machine, problem, missingModels }) => ({ machine, problem, missingModels }))).toEqual([
      { machine: "w1", problem: null, missingModels: [] },
      { machine: "w2", problem: expect.stringContaining("install the coordinator's version"), missingModels: [] },
      { machine: "w3", problem: expect.stringContaining("its clock differs by 3600 s"), missingModels: [] },
      { machine: "w4", problem: null, missingModels: [MODEL] },
    ]);
    expect(machines.map(({ clockDifferenceSeconds }) => Math.abs(clockDifferenceSeconds) > 3000)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  test("lets a worker neither read nor publish what is not its own", async () => {
    await using stack = new AsyncDisposableStack();
    const owner = await brokerFor("coordinator", stack);
    await owner.stream.reset();
    const connection = await intruder("w1", stack);
    const read = ["transcribe.work.>", "transcribe.started.>", "transcribe.result.>", "transcribe.presence.*"];
    const publish = [
      ...[
        "transcribe.presence.w2",
        "transcribe.started.c1.w2",
        "transcribe.result.c1.w2",
        "transcribe.work.test.none",
        "transcribe.cancel.c1",
        "_INBOX.w2.x",
      ],
      ...["transcribe.status.w1", "_INBOX.coordinator.x", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.OTHER"],
      ...["CREATE", "UPDATE", "DELETE", "PURGE", "MSG.GET"].map((action) => `$JS.API.STREAM.${action}.TRANSCRIBE_WORK`),
      ...["CREATE", "DELETE"].map((action) => `$JS.API.CONSUMER.${action}.TRANSCRIBE_WORK.own`),
      ...["$JS.API.DIRECT.GET.TRANSCRIBE_WORK", "$SYS.REQ.SERVER.PING", "other"],
    ];
    const subscribe = [
      ...read,
      "transcribe.>",
      "transcribe.status.*",
      "_INBOX.>",
      "_INBOX.w2.>",
      ">",
      "$SYS.>",
      "other",
    ];
    const refused = refusals(connection, publish.length + subscribe.length);
    for (const subject of publish) connection.publish(subject, "{}");
    for (const subject of subscribe) connection.subscribe(subject, { callback: () => {} });
    const expected = [...publish.map((each) => `publish ${each}`), ...subscribe.map((each) => `subscription ${each}`)];
    expect((await refused).toSorted()).toEqual(expected.toSorted());
  });

  test("stores no stream in files, not even the coordinator's", async () => {
    await using stack = new AsyncDisposableStack();
    const connection = await intruder("coordinator", stack);
    const manager = await jetstreamManager(connection);
    await manager.streams.delete("TRANSCRIBE_WORK").catch(() => {});
    const added = manager.streams.add({
      ...{ name: "TRANSCRIBE_WORK", subjects: ["transcribe.work.>"], storage: "file", max_bytes: 1024 },
    });
    await expect(added).rejects.toThrow("insufficient storage");
  });

  test.each(["w1", "coordinator"])("refuses the certificate of another authority for %s", async (machine) => {
    await using stack = new AsyncDisposableStack();
    await expect(brokerFor(machine, stack, foreign)).rejects.toThrow("is of another authority than fleet.ca");
    const mixed = join(directory.path, `mixed-${machine}`);
    await cp(join(foreign, machine), join(mixed, machine), { recursive: true });
    await cp(join(path, "ca.pem"), join(mixed, machine, "ca.pem"));
    await expect(brokerFor(machine, stack, mixed)).rejects.toThrow("was not issued by the authority");
    // A program that does not check its own files is refused by the broker.
    await expect(intruder(machine, stack, foreign)).rejects.toThrow();
  });

  test("refuses a connection without a certificate", async () => {
    const tls = { caFile: join(path, "ca.pem") };
    await expect(connect({ servers: server.url, tls, reconnect: false })).rejects.toThrow();
  });

  test("refuses a worker that was revoked, from the reload on", async () => {
    await using stack = new AsyncDisposableStack();
    const files = join(directory.path, "before");
    await cp(join(path, "leaver"), join(files, "leaver"), { recursive: true });
    const connection = await intruder("leaver", stack, files);
    FleetDirectory.open(path).revoke("leaver");
    server.reload();
    await connection.closed();
    await expect(brokerFor("leaver", stack, files)).rejects.toThrow("has no user for this machine's certificate");
  });

  test("is reached as localhost too, which its certificate names", async () => {
    await using stack = new AsyncDisposableStack();
    const url = server.url.replace("127.0.0.1", "localhost");
    expect((await brokerFor("w1", stack, path, url)).connected).toBe(true);
  });

  test("cannot be impersonated with a worker's certificate", async () => {
    await using stack = new AsyncDisposableStack();
    const folder = join(directory.path, "impostor");
    await cp(join(path, "broker"), folder, { recursive: true });
    for (const name of ["certificate.pem", "key.pem"]) await cp(join(path, "w1", name), join(folder, name));
    await using impostor = await NatsServer.withFolder(program ?? "", folder).start();
    await expect(brokerFor("coordinator", stack, path, impostor.url)).rejects.toThrow("cannot connect to the broker");
  });
});

/** Collects the operations that the broker refuses. */
async function refusals(connection: NatsConnection, count: number): Promise<string[]> {
  const found: string[] = [];
  for await (const status of connection.status()) {
    if (status.type !== "error" || !(status.error instanceof PermissionViolationError)) continue;
    found.push(`${status.error.operation} ${status.error.subject}`);
    if (found.length === count) break;
  }
  return found;
}
