import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { NatsServer } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { AttemptRecord } from "../../src/engine/index.ts";
import {
  Broker,
  type BrokerOptions,
  FleetDirectory,
  FleetEngine,
  type FleetEngineOptions,
  FleetWorker,
  type FleetWorkerOptions,
  type LocalEngine,
} from "../../src/fleet/index.ts";
import { poolOf } from "../../src/fleet/machine-names.ts";
import { encode } from "../../src/fleet/messages.ts";
import type { OperationName, Params, Result } from "../../src/operations/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import type { WorkArea } from "../../src/timeline/index.ts";

const log = createLogger("silent");
const never = new AbortController().signal;
const SECOND = 16_000;

export const model = { path: "/models/own.bin", sha256: "a".repeat(64) };
export const build = "test";

type Behaviour = (language: string, signal: AbortSignal) => Promise<void>;

/** An engine whose operations take a moment and return the samples that they were given. */
export class ScriptedEngine implements LocalEngine {
  readonly started: string[] = [];
  lanes: number;
  partsAtOnce = 1;
  behave: Behaviour;

  constructor(lanes = 1, behave: Behaviour = () => Bun.sleep(20)) {
    this.lanes = lanes;
    this.behave = behave;
  }

  async run<N extends OperationName>(operation: N, params: Params<N>, signal: AbortSignal): Promise<Result<N>> {
    const { area, chunk, language } = params as Params<"transcribe">;
    this.started.push(`${operation} ${language}`);
    await this.behave(language, signal);
    const first = Math.floor((chunk.speech[0]?.startSeconds ?? 0) * SECOND);
    const samples = new Int16Array(
      await Bun.file(area.pcm.path)
        .slice(2 * first, 2 * first + 20)
        .arrayBuffer(),
    );
    const words = [{ text: samples.join(" "), startSeconds: 0, endSeconds: 1, probability: 1 }];
    return { words, languages: { en: 1 } } as unknown as Result<N>;
  }
}

/** Waits until the signal is aborted, like an operation that takes very long. */
export function untilAborted(_: string, signal: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
}

/** A real broker on loopback, and machines with scripted engines, all of which end with the fleet. */
export class ScriptedFleet implements AsyncDisposable {
  readonly broker: NatsServer;
  readonly directory: string;
  /** One minute of samples that differ from each other. */
  readonly area: WorkArea;
  /** The fleet's directory; null if the broker demands no certificates. */
  readonly path: string | null;
  readonly #stack = new AsyncDisposableStack();

  private constructor(broker: NatsServer, directory: string, path: string | null) {
    const sampleCount = 60 * SECOND;
    this.broker = broker;
    this.directory = directory;
    this.area = { directory: join(directory, "area"), pcm: { path: join(directory, "pcm"), sampleCount } };
    this.path = path;
    mkdirSync(this.area.directory);
    writeFileSync(
      this.area.pcm.path,
      Int16Array.from({ length: sampleCount }, (_, index) => index % 30_011),
    );
  }

  /**
   * @param program nats-server
   * @param workers names of the workers in a fleet's directory, whose files the broker has
   * @param pools names of the pools in it; without workers and pools the broker demands no certificates
   */
  static async start(
    program: string | null,
    workers: readonly string[] = [],
    pools: readonly string[] = [],
  ): Promise<ScriptedFleet> {
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(temporaryDirectory()).path;
    const path = workers.length + pools.length === 0 ? null : join(directory, "fleet");
    const created = { broker: ["127.0.0.1"], port: 4222, workers, pools };
    if (path !== null) await FleetDirectory.create(path, created, Date.now());
    const broker =
      path === null ? new NatsServer(program ?? "") : NatsServer.withFolder(program ?? "", join(path, "broker"));
    const fleet = new ScriptedFleet(stack.use(await broker.start()), directory, path);
    fleet.#stack.use(stack.move());
    return fleet;
  }

  /** Ends something with the fleet, before the machines that are connected already. */
  use<T extends Disposable | AsyncDisposable>(resource: T): T {
    return this.#stack.use(resource);
  }

  defer(end: () => unknown): void {
    this.#stack.defer(async () => void (await end()));
  }

  /** Returns the files of a machine in the fleet's directory. */
  filesOf(machine: string) {
    return filesOf(this.path ?? "", machine);
  }

  /** @param options `waits`: whether to return also while the broker is away */
  async connect(
    machine: string,
    { waits = false, ...others }: Partial<BrokerOptions> & { waits?: boolean } = {},
  ): Promise<Broker> {
    const files = this.path === null ? { machine, ca: "", certificate: "", key: "" } : this.filesOf(machine);
    const options = { url: this.broker.url, ...files, log, ...others };
    const broker = await (waits ? Broker.connectOrWait(options) : Broker.connect(options));
    this.defer(() => broker.close());
    return broker;
  }

  /** Connects like a hostile program that has a machine's certificate and key. */
  async intrude(machine: string, files = this.filesOf(machine)): Promise<NatsConnection> {
    const tls = { caFile: this.filesOf(machine).ca, certFile: files.certificate, keyFile: files.key };
    const connection = await connect({
      ...{ servers: this.broker.url, inboxPrefix: `_INBOX.${machine}`, reconnect: false },
      ...(this.path === null ? {} : { tls }),
    });
    this.defer(() => connection.close());
    return connection;
  }

  async coordinator(workHere: boolean, others: Partial<FleetEngineOptions> = {}) {
    const local = new ScriptedEngine();
    const broker = others.broker ?? (await this.connect("coordinator"));
    const engine = new FleetEngine({
      ...{ local, broker, workHere, build, version: "1", coordinator: `c${Bun.randomUUIDv7()}`, machine: "own", log },
      sha256Of: () => model.sha256,
      models: () => [model.sha256],
      onCompletion: () => {},
      now: Date.now,
      ...others,
    });
    this.defer(() => engine.close());
    if (broker.connected) await engine.start();
    return { engine, local, broker };
  }

  async worker(
    machine: string,
    engine: LocalEngine = new ScriptedEngine(),
    others: Partial<FleetWorkerOptions> = {},
  ): Promise<FleetWorker> {
    const directory = join(this.directory, machine);
    mkdirSync(directory, { recursive: true });
    const made = new FleetWorker({
      ...{ broker: others.broker ?? (await this.connect(machine)), engine, build, version: "1" },
      ...{ machine, instance: "i", directory, log },
      models: () => [{ ...model, path: `/elsewhere/${machine}.bin`, prepare: async () => null }],
      device: () => ({ device: "cpu", gpu: "" }),
      status: () => ({ devices: ["CPU"], trouble: null }),
      now: Date.now,
      ...others,
    });
    this.defer(() => made.stop());
    return made;
  }

  /** Requests the transcription of one second, or of more. */
  ask(
    engine: FleetEngine,
    at: number,
    { signal = never, record = null, seconds = 1, path = model.path }: Request = {},
  ): Promise<Result<"transcribe">> {
    const span = { startSeconds: at, endSeconds: at + seconds };
    const chunk = { ...span, speech: [span] };
    return engine.run("transcribe", { area: this.area, model: path, language: `part${at}`, chunk }, signal, record);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

interface Request {
  readonly signal?: AbortSignal;
  readonly record?: AttemptRecord | null;
  readonly seconds?: number;
  readonly path?: string;
}

/** Waits until a coordinator sees this many workers. */
export async function present(engine: FleetEngine, count: number): Promise<void> {
  while (engine.machines().length < count) await Bun.sleep(10);
}

/** Returns the text that `ScriptedEngine` returns for the second `at`. */
export function expected(at: number): string {
  return Array.from({ length: 10 }, (_, index) => (at * SECOND + index) % 30_011).join(" ");
}

export function textOf(result: Result<"transcribe">): string | undefined {
  return result.words[0]?.text;
}

/** Returns the report of a machine with one lane, which has these operations. */
export function presenceOf(machine: string, holds: readonly string[] = []): Uint8Array {
  return encode({
    ...{ machine, instance: "i", version: "1", build, models: [model.sha256], devices: ["CPU"], lanes: 1 },
    ...{ busy: 0, clock: Date.now(), trouble: null, leaves: false, holds },
  });
}

/**
 * Returns the settings of a machine that its folder in a fleet's directory contains.
 * @param machine a worker of a pool is called `POOL.INSTANCE`
 */
export function filesOf(directory: string, machine: string) {
  const at = (name: string) => join(directory, poolOf(machine) || machine, name);
  return { machine, ca: at("ca.pem"), certificate: at("certificate.pem"), key: at("key.pem") };
}
