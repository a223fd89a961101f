import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NatsServer } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import type { AttemptRecord, OperationName, Params, Result } from "../../src/engine/index.ts";
import {
  Broker,
  FleetEngine,
  type FleetEngineOptions,
  FleetWorker,
  type FleetWorkerOptions,
  type LocalEngine,
} from "../../src/fleet/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import type { WorkArea } from "../../src/timeline/index.ts";

const log = createLogger("silent");
const never = new AbortController().signal;
const SECOND = 16_000;

export const model = { path: "/models/own.bin", sha256: "a".repeat(64) };
export const build = "test";

/** An engine whose operations take a moment and return the samples that they were given. */
export class ScriptedEngine implements LocalEngine {
  readonly started: string[] = [];
  lanes: number;
  partsAtOnce = 1;
  behave: (language: string, signal: AbortSignal) => Promise<void> = () => Bun.sleep(20);

  constructor(lanes: number) {
    this.lanes = lanes;
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

interface WorkerChoices {
  readonly ownBuild?: string;
  readonly instance?: string;
  readonly broker?: Broker;
  readonly models?: FleetWorkerOptions["models"];
}

/** A real broker on loopback, and machines with scripted engines. Every machine ends with its stack. */
export class ScriptedFleet implements AsyncDisposable {
  readonly directory = temporaryDirectory();
  readonly broker: NatsServer;
  /** One minute of samples that differ from each other. */
  readonly area: WorkArea;

  private constructor(broker: NatsServer) {
    this.broker = broker;
    const samples = Int16Array.from({ length: 60 * SECOND }, (_, index) => index % 30_011);
    const directory = join(this.directory.path, "area");
    mkdirSync(directory);
    this.area = { directory, pcm: { path: join(this.directory.path, "pcm"), sampleCount: samples.length } };
    writeFileSync(this.area.pcm.path, samples);
  }

  /** @param program nats-server */
  static async start(program: string): Promise<ScriptedFleet> {
    return new ScriptedFleet(await new NatsServer(program).start());
  }

  /** @param waits whether the coordinator also starts while the broker is away */
  async connect(machine: string, stack: AsyncDisposableStack, url = this.broker.url, waits = false): Promise<Broker> {
    const options = { url, ca: "", certificate: "", key: "", machine, log };
    const broker = await (waits ? Broker.connectOrWait(options) : Broker.connect(options));
    stack.defer(() => broker.close());
    return broker;
  }

  async coordinator(
    workHere: boolean,
    stack: AsyncDisposableStack,
    connected?: Broker,
    others: Partial<FleetEngineOptions> = {},
  ) {
    const local = new ScriptedEngine(1);
    const broker = connected ?? (await this.connect("coordinator", stack));
    const engine = new FleetEngine({
      ...{ local, broker, workHere, build, version: "1", coordinator: `c${Bun.randomUUIDv7()}`, machine: "own", log },
      sha256Of: () => model.sha256,
      models: () => [model.sha256],
      onCompletion: () => {},
      now: Date.now,
      ...others,
    });
    stack.defer(() => engine.close());
    if (broker.connected) await engine.start();
    return { engine, local, broker };
  }

  async worker(
    machine: string,
    engine: ScriptedEngine,
    stack: AsyncDisposableStack,
    { ownBuild = build, instance = "i", broker, models }: WorkerChoices = {},
  ): Promise<FleetWorker> {
    const directory = join(this.directory.path, machine);
    mkdirSync(directory, { recursive: true });
    const made = new FleetWorker({
      ...{ broker: broker ?? (await this.connect(machine, stack)), engine, build: ownBuild, version: "1" },
      ...{ machine, instance, directory, log },
      models: models ?? (() => [{ ...model, path: `/elsewhere/${machine}.bin`, prepare: async () => null }]),
      device: () => ({ device: "cpu", gpu: "" }),
      status: () => ({ devices: ["CPU"], trouble: null }),
      now: Date.now,
    });
    stack.defer(() => made.stop());
    return made;
  }

  /** Requests the transcription of one second, or of more. */
  ask(
    engine: FleetEngine,
    at: number,
    signal = never,
    record: AttemptRecord | null = null,
    { seconds = 1, path = model.path }: { seconds?: number; path?: string } = {},
  ): Promise<Result<"transcribe">> {
    const span = { startSeconds: at, endSeconds: at + seconds };
    const chunk = { ...span, speech: [span] };
    return engine.run("transcribe", { area: this.area, model: path, language: `part${at}`, chunk }, signal, record);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.broker[Symbol.asyncDispose]();
    this.directory[Symbol.dispose]();
  }
}

/** Returns the text that `ScriptedEngine` returns for the second `at`. */
export function expected(at: number): string {
  return Array.from({ length: 10 }, (_, index) => (at * SECOND + index) % 30_011).join(" ");
}

export function textOf(result: Result<"transcribe">): string | undefined {
  return result.words[0]?.text;
}

/** Returns a record of attempts that notes what it is told. */
export function notedRecord() {
  const noted: string[] = [];
  return {
    noted,
    crashes: 0,
    onStart: () => void noted.push("start"),
    onInterrupted: (cause: string) => void noted.push(cause),
  };
}

/** Returns the settings of a machine that its folder in a fleet's directory contains. */
export function filesOf(directory: string, machine: string) {
  const at = (name: string) => join(directory, machine, name);
  return { ca: at("ca.pem"), certificate: at("certificate.pem"), key: at("key.pem") };
}
