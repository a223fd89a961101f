import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { DataDirectory } from "../../src/storage/index.ts";
import { canTranscribe } from "../speech/recognizer/whisper/support.ts";
import { corpusPath } from "../support/checkout.ts";
import type { TestClient } from "../support/client.ts";
import { NatsServer, natsServerProgram } from "../support/nats-server.ts";
import { programCommand, programSettings } from "../support/program.ts";
import { killedWithParent, TestServer } from "../support/server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

setDefaultTimeout(400_000);

const recording = "dialogue/dlg-01-2spk-FM.flac";
const program = await natsServerProgram("a fleet that transcribes");
const canRun = canTranscribe("a fleet that transcribes", recording) && program !== null;
const oneThread = { TRANSCRIBE_ENGINE_THREADS: "1", TRANSCRIBE_ENGINE_DEVICE: "cpu" };

/** `transcribe worker`, on a data directory of its own. */
class TestWorker implements AsyncDisposable {
  readonly directory = temporaryDirectory();
  readonly #child: Subprocess;

  /** @param known data directory with results of the self-tests, which take seconds */
  constructor(machine: string, broker: string, known: string) {
    const { verdicts } = new DataDirectory(known);
    const own = new DataDirectory(this.directory.path).verdicts;
    if (existsSync(verdicts)) copyFileSync(verdicts, own);
    mkdirSync(join(this.directory.path, "models"), { recursive: true });
    this.#child = Bun.spawn(
      killedWithParent(programCommand("worker", "--fleet", broker, "--data-dir", this.directory.path)),
      {
        env: { ...process.env, ...programSettings, ...oneThread, TRANSCRIBE_FLEET_MACHINE: machine },
        stdio: ["ignore", "ignore", "inherit"],
      },
    );
  }

  /** Data of operations that it has not removed. */
  leftovers(): string[] {
    return readdirSync(join(this.directory.path, "work", "fleet"));
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child.kill(signal);
    await this.#child.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end("SIGKILL");
    this.directory[Symbol.dispose]();
  }
}

test.skipIf(!canRun)(
  "a fleet gives the segments of a single machine, also when a worker is killed while it works",
  async () => {
    await using broker = await new NatsServer(program ?? "").start();
    const path = corpusPath(recording);

    await using alone = new TestServer(oneThread);
    await alone.start();
    const { segments: expected } = await alone.client("alone").transcribe(path);
    expect(expected.length).toBeGreaterThan(3);
    await alone.stop();

    await using server = new TestServer({
      ...oneThread,
      TRANSCRIBE_FLEET_BROKER: broker.url,
      TRANSCRIBE_FLEET_WORK_HERE: "false",
    });
    await server.start();
    await using first = new TestWorker("first", broker.url, alone.dataDirectory);
    await using second = new TestWorker("second", broker.url, alone.dataDirectory);
    const client = server.client("fleet");
    const withLanes = () => server.log.filter(({ event }) => event === "fleet.worker_joined").length === 2;
    await server.until(withLanes, 50, 60_000);
    const { id } = await client.create(path);
    await server.until(() => partsOf(server, "transcribe") > 0, 50, 200_000);
    await first.end("SIGKILL");
    expect((await client.waitUntilEnded(id)).status).toBe("completed");
    expect(await segmentsOf(client, id)).toEqual(expected);
    const metrics = await (await fetch(`${server.origin}/metrics`)).text();
    expect(metrics).toContain('transcribe_fleet_worker_lanes{machine="second"} 1');
    // The server's own engine did none of the work.
    expect(metrics).toMatch(/transcribe_fleet_sent_bytes_total [1-9]/);
    while (second.leftovers().length > 0) await Bun.sleep(20);
    await second.end("SIGTERM");
    expect(await server.stop()).toBe(0);
  },
);

const partsOf = (server: TestServer, step: string) =>
  server.log.filter((line) => line.event === "recording.part_finished" && line.step === step).length;

async function segmentsOf(client: TestClient, id: string) {
  return await client.segments(id);
}
