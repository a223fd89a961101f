import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { corpusPath, mediaToolPath } from "../../harness/checkout.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { tinyModel, writeRandomModel } from "../../harness/parakeet/random-model.ts";
import { runCli, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";
import { canTranscribe } from "../speech/recognizer/whisper/support.ts";

setDefaultTimeout(400_000);

const recording = "dialogue/dlg-01-2spk-FM.flac";
/** Part of the recording in which the name of the hint is spoken; two chunks. */
const span = ["-ss", "12.2", "-to", "52.4"];
const program = await natsServerProgram("a fleet that transcribes");
const canRun = canTranscribe("a fleet that transcribes", recording) && program !== null;
/** Hints reach the machines of a fleet in the parameters of its operations. */
const hints = { prompt: "Nuzhat al-Zaman", speakers: "3" };
const oneThread = { TRANSCRIBE_ENGINE_THREADS: "1", TRANSCRIBE_ENGINE_DEVICE: "cpu" };

test.skipIf(!canRun)(
  "a fleet gives the segments of a single machine when a worker is killed, and parts of a model to workers that have it",
  async () => {
    using directory = temporaryDirectory();
    await using broker = await new NatsServer(program ?? "").start();
    const path = join(directory.path, "dialogue.wav");
    const cut = [mediaToolPath, "-v", "error", ...span, "-i", corpusPath(recording), path];
    expect(await Bun.spawn(cut, { stdin: "ignore", stdout: "ignore" }).exited).toBe(0);

    await using alone = new TestServer(oneThread);
    await alone.start();
    const { segments: expected } = await alone.client("alone").transcribe(path, hints);
    expect(expected.map(({ text }) => text).join(" ")).toContain("Nuzhat al-Zaman");
    expect(new Set(expected.map(({ speaker }) => speaker)).size).toBe(3);
    await alone.stop();

    await using server = new TestServer({
      ...oneThread,
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
        args: ["--fleet", broker.url],
        environment: { ...oneThread, TRANSCRIBE_FLEET_MACHINE: machine },
        verdictsOf: alone.dataDirectory,
      });
    await using first = worker("first");
    await using second = worker("second");
    const client = server.client("fleet");
    const withLanes = () => server.log.filter(({ event }) => event === "fleet.worker_joined").length === 2;
    await server.until(withLanes, 50, 60_000);
    const { id } = await client.create(path, hints);
    await server.until(() => partsOf(server, "transcribe") > 0, 50, 200_000);
    await first.end("SIGKILL");
    expect((await client.waitUntilEnded(id)).status).toBe("completed");
    expect(await client.segments(id)).toEqual(expected);
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
    const model = join(directory.path, "parakeet-tiny.bin");
    writeRandomModel(model, tinyModel);
    const run = async (...args: string[]) => expect((await server.cli(...args)).stderr).toBe("");
    await run("models", "import", model);
    const imported = await runCli(["models", "import", model, "--data-dir", second.dataDirectory]);
    expect([imported.exitCode, imported.stderr]).toEqual([0, ""]);
    await run("models", "use", "parakeet-tiny");
    // The coordinator misses a killed worker only after some time.
    await server.until(() => server.log.some(({ event }) => event === "fleet.worker_gone"), 50, 60_000);
    first.restart();
    await server.until(
      () => server.log.filter(({ event }) => event === "fleet.worker_joined").length === 3,
      50,
      60_000,
    );
    const machines = async () => {
      const { stdout } = await server.cli("fleet", "status", "--json", "--fleet", broker.url);
      return (JSON.parse(stdout) as { machines: { machine: string; models: { id: string }[] }[] }).machines;
    };
    let seen = await machines();
    while (seen.find(({ machine }) => machine === "second")?.models.length !== 2) seen = await machines();
    const idsOf = (name: string) => seen.find(({ machine }) => machine === name)?.models.map(({ id }) => id) ?? [];
    expect(idsOf("second").toSorted()).toEqual(["parakeet-tiny", "whisper-base"]);
    expect(idsOf("first")).toEqual(["whisper-base"]);
    const spoken = await client.transcribe(path, { language: "en" });
    expect(spoken.ended.status).toBe("completed");
    expect(spoken.segments.map(({ text }) => text).join(" ")).not.toContain("al-Zaman");
    const recognizedBy = server.log.filter(
      (line) =>
        line.event === "recording.operation_finished" &&
        line.recordingId === spoken.ended.id &&
        line.operation === "transcribe",
    );
    expect(new Set(recognizedBy.map(({ machine }) => machine))).toEqual(new Set(["second"]));

    while (second.leftovers().length > 0) await Bun.sleep(20);
    await second.end("SIGTERM");
    expect(await server.stop()).toBe(0);
  },
);

const partsOf = (server: TestServer, step: string) =>
  server.log.filter((line) => line.event === "recording.part_finished" && line.step === step).length;
