import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { available, corpusPath, samplePath } from "../../harness/checkout.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { runFfmpeg } from "../../harness/sample-recordings.ts";
import { runCli, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";
import { tinyLanguage, writeTinyRecognizer } from "../support/tiny-recognizer.ts";
import { canTranscribe } from "../support/whisper.ts";

/** "Tell me what happened, quoth Zau al-Makan." */
const named = "single/en-libri-2033-164914-0005.flac";
const jfk = samplePath("jfk.mp3");
/** The sentence and two parts of an address by another speaker. The pauses make three chunks. */
const threeChunks = [
  ...["-i", corpusPath(named), "-to", "4.8", "-i", jfk, "-ss", "5", "-i", jfk, "-filter_complex"],
  [
    ...[0, 1, 2].map((input) => `[${input}:a]aresample=16000,aformat=channel_layouts=mono,apad=pad_dur=2.6[p${input}]`),
    "[p0][p1][p2]concat=n=3:v=0:a=1",
  ].join(";"),
];
const program = await natsServerProgram("a fleet that transcribes");
const canRun =
  canTranscribe("a fleet that transcribes", named) && available("a fleet that transcribes", jfk) && program !== null;
/** Hints reach the machines of a fleet in the parameters of its operations. */
const hints = { prompt: "Zau al-Makan\nHelstone\nLeverrier", speakers: "1" };
/** Three processes share this machine's cores. */
const oneThread = { TRANSCRIBE_ENGINE_THREADS: "1", TRANSCRIBE_ENGINE_DEVICE: "cpu" };

/** fleet-kills.slow.test.ts compares the segments of a fleet with those of a single machine. */
test.if(canRun)(
  "a fleet with the files of fleet init completes a recording with its hints when a worker is killed, gives parts of a model to workers that have it, and shows its machines",
  async () => {
    using directory = temporaryDirectory();
    const recording = join(directory.path, "recording.wav");
    await runFfmpeg([...threeChunks, recording]);
    const path = join(directory.path, "fleet");
    const init = ["fleet", "init", "--directory", path, "--broker", "127.0.0.1", "--worker", "first", "second"];
    const made = await runCli(init);
    expect([made.exitCode, made.stderr]).toEqual([0, ""]);

    await using broker = await NatsServer.withFolder(program ?? "", join(path, "broker")).start();
    const configOf = (machine: string) => join(path, machine, "fleet.toml");
    await using server = new TestServer({
      ...oneThread,
      TRANSCRIBE_CONFIG: configOf("coordinator"),
      TRANSCRIBE_FLEET_BROKER: broker.url,
      TRANSCRIBE_FLEET_WORK_HERE: "false",
    });
    await server.start();
    const readiness = await fetch(`${server.origin}/readyz`);
    expect([readiness.status, await readiness.text()]).toEqual([
      503,
      expect.stringContaining("start one on its machine"),
    ]);
    const worker = (machine: string) =>
      new TestWorker({
        args: ["--config", configOf(machine), "--fleet", broker.url],
        environment: oneThread,
        verdictsOf: server.dataDirectory,
      });
    await using first = worker("first");
    await using second = worker("second");
    const client = server.client("fleet");
    await server.until(() => countOf(server, "fleet.worker_joined") === 2);

    const { id } = await client.create(recording, hints);
    const isStored = () =>
      server.log.some(({ event, step }) => event === "recording.part_finished" && step === "transcribe");
    await server.until(isStored, 5);
    await first.end("SIGKILL");
    expect((await client.waitUntilEnded(id)).status).toBe("completed");
    const segments = await client.segments(id);
    expect(textOf(segments)).toContain("Zau al-Makan");
    expect(new Set(segments.map(({ speaker }) => speaker)).size).toBe(1);
    const metrics = await (await fetch(`${server.origin}/metrics`)).text();
    expect(metrics).toContain('transcribe_fleet_worker_lanes{machine="second"} 1');
    // The server's own engine did none of the work.
    expect(metrics).toMatch(/transcribe_fleet_sent_bytes_total [1-9]/);
    expect(metrics).toContain('device="cpu",gpu="",machine="second"');
    // The killed worker may have completed nothing.
    expect((await server.cli("recordings", "show", id)).stdout).toMatch(
      /^parts_by_machine +(first [1-9]\d*, )?second [1-9]\d*$/m,
    );

    // A model of another family, which only one of the workers has. Both have the model of the coordinator's first one.
    const model = writeTinyRecognizer(directory.path);
    const run = async (...args: string[]) => expect((await server.cli(...args)).stderr).toBe("");
    await run("models", "import", model);
    const imported = await runCli(["models", "import", model, "--data-dir", second.dataDirectory]);
    expect([imported.exitCode, imported.stderr]).toEqual([0, ""]);
    await run("models", "use", "parakeet-tiny");
    // The coordinator misses a killed worker only after some time.
    await server.until(() => countOf(server, "fleet.worker_gone") === 1);
    first.restart();
    await server.until(() => countOf(server, "fleet.worker_joined") === 3);
    const fleetStatus = async () => {
      const { exitCode, stdout, stderr } = await server.cli("fleet", "status", "--json");
      expect([exitCode, stderr]).toEqual([0, ""]);
      return JSON.parse(stdout) as FleetStatus;
    };
    let status = await fleetStatus();
    const modelsOf = (name: string) =>
      status.machines
        .find(({ machine }) => machine === name)
        ?.models.map((each) => each.id)
        .toSorted();
    const hasProblem = (name: string) =>
      status.machines.some(({ machine, lanes, problem }) => machine === name && lanes === 1 && problem !== null);
    // The first worker tells what it lacks when it has loaded its models again, which is after it has joined.
    await server.until(() => first.log.filter(({ event }) => event === "engine.ready").length === 2);
    while (modelsOf("second")?.length !== 2 || !hasProblem("first")) status = await fleetStatus();
    expect([modelsOf("first"), modelsOf("second")]).toEqual([["whisper-base"], ["parakeet-tiny", "whisper-base"]]);
    expect(status.machines).toMatchObject([
      { machine: "first", lanes: 1, devices: ["CPU"], problem: expect.stringContaining("it lacks the model") },
      { machine: "second", lanes: 1, devices: ["CPU"], problem: null },
    ]);
    expect(status.coordinator).toMatchObject({ work_here: false, waiting: 0, in_flight: 0, refused_messages: 0 });
    expect(status.coordinator.published).toBeGreaterThan(0);

    const spoken = await client.transcribe(recording, tinyLanguage);
    expect(spoken.ended.status).toBe("completed");
    expect(textOf(spoken.segments)).not.toContain("al-Makan");
    const recognizedBy = server.log.filter(
      (line) =>
        line.event === "recording.operation_finished" &&
        line.recordingId === spoken.ended.id &&
        line.operation === "transcribe",
    );
    expect(new Set(recognizedBy.map(({ machine }) => machine))).toEqual(new Set(["second"]));

    expect(await Promise.all([first, second].map((each) => each.end("SIGTERM")))).toEqual([0, 0]);
    expect([first, second].flatMap((each) => each.leftovers())).toEqual([]);
    await server.until(() => countOf(server, "fleet.worker_left") === 2);
    expect(await server.stop()).toBe(0);
    expect(filesIn(join(path, "broker", "jetstream")).filter((name) => name.endsWith(".blk"))).toEqual([]);
  },
  400_000,
);

interface FleetStatus {
  readonly machines: readonly {
    readonly machine: string;
    readonly lanes: number;
    readonly problem: string | null;
    readonly models: readonly { readonly id: string }[];
  }[];
  readonly coordinator: { readonly published: number };
}

const countOf = (server: TestServer, name: string) => server.log.filter(({ event }) => event === name).length;
const textOf = (segments: readonly { readonly text: string }[]) => segments.map(({ text }) => text).join(" ");

function filesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: "utf8" }) : [];
}
