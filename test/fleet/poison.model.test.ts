import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, mediaToolPath, samplePath } from "../../harness/checkout.ts";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { isFromSource } from "../../harness/program.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";

setDefaultTimeout(180_000);

const what = "a recording that crashes the workers of a fleet";
const jfk = samplePath("jfk.mp3");
const program = await natsServerProgram(what);
const ready = available(what, jfk, ffmpegPath, mediaToolPath) && isFromSource && program !== null;
if (!isFromSource) console.warn(`SKIPPED: ${what}; the compiled program has no fault injection`);

/** Length of the recording at which the worker's engine crashes, in samples. */
const poisonSamples = 128_000;

test.skipIf(!ready)(
  "a recording that crashes a worker's engine fails after three attempts like on one machine, and others complete",
  async () => {
    using directory = temporaryDirectory();
    const poison = join(directory.path, "poison.wav");
    const cut = ["-v", "error", "-i", jfk, "-ac", "1", "-ar", "16000", "-t", String(poisonSamples / 16_000), poison];
    expect(await Bun.spawn([mediaToolPath, ...cut], { stdin: "ignore", stdout: "ignore" }).exited).toBe(0);
    await using broker = await new NatsServer(program ?? "").start();
    await using server = new TestServer({
      TRANSCRIBE_FLEET_BROKER: broker.url,
      TRANSCRIBE_FLEET_WORK_HERE: "false",
    });
    await server.start();
    await using worker = new TestWorker({
      args: ["--fleet", broker.url],
      environment: {
        TRANSCRIBE_FLEET_MACHINE: "worker",
        WORKER_TEST_FAULT: `transcribe:${poisonSamples}:SIGSEGV`,
      },
      verdictsOf: server.dataDirectory,
    });
    const client = server.client("poison");
    const recordings = [await client.create(poison, { language: "en" }), await client.create(jfk, { language: "en" })];
    const ended = await Promise.all(recordings.map(({ id }) => client.waitUntilEnded(id)));
    expect(ended.map(({ status, failure_reason }) => [status, failure_reason])).toEqual([
      ["failed", "internal"],
      ["completed", null],
    ]);
    const shown = await server.cli("recordings", "show", ended[0]?.id ?? "", "--json");
    expect(JSON.parse(shown.stdout).failure_cause).toBe("engine_crashed");
    const crashes = worker.log.filter(({ event }) => event === "engine.worker_exited");
    expect(crashes.map(({ signal }) => signal)).toEqual(["SIGSEGV", "SIGSEGV", "SIGSEGV"]);
    // The worker itself never left the fleet.
    expect(server.log.filter(({ event }) => event === "fleet.worker_joined").length).toBe(1);
  },
);
