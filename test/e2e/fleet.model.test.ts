import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { makeRecordingOfChunks } from "../../harness/sample-recordings.ts";
import { runCli, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";

const program = await natsServerProgram("a fleet with certificates");
const ready =
  available("a fleet with certificates", ffmpegPath, samplePath("sample.wav"), samplePath("jfk.mp3")) &&
  program !== null;
/** Three processes share this machine's cores. */
const oneThread = { TRANSCRIBE_ENGINE_THREADS: "1", TRANSCRIBE_ENGINE_DEVICE: "cpu" };
const workers = ["w1", "w2"];
const english = { language: "en" };

test.if(ready)(
  "a server and two workers with the files of fleet init give the segments of one machine, and fleet status shows them",
  async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "fleet");
    const recording = await makeRecordingOfChunks(directory.path);
    const made = await runCli(["fleet", "init", "--directory", path, "--broker", "127.0.0.1", "--worker", ...workers]);
    expect([made.exitCode, made.stderr]).toEqual([0, ""]);

    await using broker = await NatsServer.withFolder(program ?? "", join(path, "broker")).start();
    const configOf = (machine: string) => join(path, machine, "fleet.toml");
    await using server = new TestServer({
      ...oneThread,
      TRANSCRIBE_CONFIG: configOf("coordinator"),
      TRANSCRIBE_FLEET_BROKER: broker.url,
    });
    await server.start();
    const client = server.client("fleet");
    // The coordinator is a single machine until the first worker joins.
    const { segments: expected } = await client.transcribe(recording, english);
    expect(expected.length).toBeGreaterThan(3);
    await using stack = new AsyncDisposableStack();
    const started = workers.map((machine) => {
      const args = ["--config", configOf(machine), "--fleet", broker.url];
      return stack.use(new TestWorker({ args, environment: oneThread, verdictsOf: server.dataDirectory }));
    });
    await server.until(async () => {
      const metrics = await (await fetch(`${server.origin}/metrics`)).text();
      return workers.every((machine) => metrics.includes(`transcribe_fleet_worker_lanes{machine="${machine}"} 1`));
    });
    const { segments } = await client.transcribe(recording, english);
    expect(segments).toEqual(expected);
    const byWorkers = server.log.filter(
      ({ event, machine }) => event === "recording.operation_finished" && workers.includes(String(machine)),
    );
    expect(byWorkers.length).toBeGreaterThan(0);

    const args = ["--config", configOf("coordinator"), "--fleet", broker.url, "--data-dir", server.dataDirectory];
    const { exitCode, stdout, stderr } = await runCli(["fleet", "status", "--json", ...args]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const status = JSON.parse(stdout);
    expect(status.machines).toMatchObject(
      workers.map((machine) => ({ machine, lanes: 1, devices: ["CPU"], problem: null })),
    );
    expect(status.coordinator).toMatchObject({ work_here: true, waiting: 0, in_flight: 0, refused_messages: 0 });
    expect(status.coordinator.published).toBeGreaterThan(0);

    expect(await Promise.all(started.map((worker) => worker.end("SIGTERM")))).toEqual([0, 0]);
    expect(started.flatMap((worker) => worker.leftovers())).toEqual([]);
    await server.until(() => countOf(server, "fleet.worker_left") === 2);
    expect(await server.stop()).toBe(0);
    expect(filesIn(join(path, "broker", "jetstream")).filter((name) => name.endsWith(".blk"))).toEqual([]);
  },
  240_000,
);

const countOf = (server: TestServer, name: string) => server.log.filter(({ event }) => event === name).length;

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : [];
}
