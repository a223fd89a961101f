import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { NatsServer, natsServerProgram } from "../../../harness/nats-server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import type { Finding } from "../../../src/diagnostics/index.ts";
import { Broker, FleetDirectory, FleetEngine, FleetWorker, type LocalEngine } from "../../../src/fleet/index.ts";
import { fleetIdentity } from "../../../src/server/index.ts";
import { createLogger } from "../../../src/telemetry/index.ts";
import { contextOf, runCheck } from "./support.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("doctor's checks of a fleet with a real broker");
const log = createLogger("silent");
const MODEL = "a".repeat(64);
const ids = ["fleet.certificate", "fleet.broker", "fleet.clock", "fleet.machines"];
const DAY = 86_400_000;

const directory = temporaryDirectory();
const path = join(directory.path, "fleet");
afterAll(() => directory[Symbol.dispose]());
beforeAll(async () => {
  await FleetDirectory.create(path, { broker: ["127.0.0.1"], port: 4222, workers: ["w1", "w2"] }, Date.now());
});

function filesOf(machine: string) {
  const at = (name: string) => join(path, machine, name);
  return { ca: at("ca.pem"), certificate: at("certificate.pem"), key: at("key.pem") };
}

/** Creates the context of a machine of the fleet. @param days difference of the machine's clock */
function contextFor(machine: string, url: string, { days = 0, files = filesOf(machine), workHere = true } = {}) {
  const flags = {
    ...{ "fleet.broker": url, "fleet.machine": machine, "fleet.work_here": String(workHere) },
    ...{ "fleet.ca": files.ca, "fleet.certificate": files.certificate, "fleet.key": files.key },
  };
  return contextOf({ now: new Date(Date.now() + days * DAY).toISOString() }, { flags });
}

const tell = ({ status, summary, advice = "" }: Finding) => `${status}: ${summary} → ${advice}`;

describe("the checks of a fleet", () => {
  test.each(ids)("skip a machine that works alone (%s)", async (id) => {
    expect(await runCheck(id, contextOf({}))).toMatchObject({ status: "skipped" });
  });

  const certificates: [string, Parameters<typeof contextFor>[2], string, string][] = [
    ["a valid one", {}, "ok: w1, until", ""],
    ["one that expired", { days: 36_500 }, "problem: the fleet's \\w+ expired on", "--renew w1"],
    ["that of another machine", { files: filesOf("w2") }, "problem: the certificate", 'Set fleet.machine = "w2"'],
    ["another key", { files: { ...filesOf("w1"), key: filesOf("w2").key } }, "does not belong", "Copy ca.pem"],
    ["a missing file", { files: { ...filesOf("w1"), ca: "/nowhere" } }, "cannot be read", "Copy it from the folder"],
    ["a slow clock", { days: -400 }, "is valid from", "Set the clock"],
  ];
  test.each(certificates)("report about the certificate: %s", async (_, options, found, advice) => {
    const text = tell(await runCheck("fleet.certificate", contextFor("w1", "tls://127.0.0.1:1", options)));
    expect(text).toMatch(new RegExp(found));
    expect(text).toContain(advice);
  });

  test("report a certificate that ends within 30 days before it ends", async () => {
    const context = contextFor("w1", "tls://127.0.0.1:1");
    const end = (await runCheck("fleet.certificate", context)).summary.replace(/^.*until /, "");
    const days = (Date.parse(end) - Date.now()) / DAY - 20;
    const found = await runCheck("fleet.certificate", contextFor("w1", "tls://127.0.0.1:1", { days }));
    expect([found.status, found.advice]).toEqual(["warning", expect.stringContaining("--renew w1")]);
  });

  test("report a broker that does not answer, and only once", async () => {
    const context = contextFor("w1", "tls://127.0.0.1:1");
    const found = await runCheck("fleet.broker", context);
    expect([found.status, found.advice]).toEqual(["problem", expect.stringContaining("nats-server runs there")]);
    expect((await runCheck("fleet.clock", context)).status).toBe("skipped");
    expect((await runCheck("fleet.machines", context)).status).toBe("skipped");
  });
});

const engine: LocalEngine = { lanes: 2, partsAtOnce: 2, run: () => Promise.reject(new Error("no work is expected")) };

/** A coordinator's check collects the workers' reports for four seconds, so the tests run at the same time. */
describe.skipIf(program === null)("the checks of a fleet with a broker", () => {
  let build = "";
  beforeAll(async () => {
    build = (await fleetIdentity({ machine: "" })).build;
  });

  /** Starts a broker for one test, in a folder of its own, because brokers cannot share their JetStream's folder. */
  async function startBroker(stack: AsyncDisposableStack): Promise<string> {
    const folder = join(directory.path, Bun.randomUUIDv7());
    cpSync(join(path, "broker"), folder, { recursive: true });
    return stack.use(await NatsServer.withFolder(program ?? "", folder).start()).url;
  }

  async function brokerFor(machine: string, url: string, stack: AsyncDisposableStack) {
    const broker = await Broker.connect({ url, ...filesOf(machine), machine, log });
    stack.defer(() => broker.close());
    return broker;
  }

  async function startCoordinator(url: string, stack: AsyncDisposableStack) {
    const coordinator = new FleetEngine({
      ...{ build, version: "1", now: Date.now, log, onCompletion: () => {}, local: engine },
      ...{ workHere: false, coordinator: "c1", machine: "own", sha256Of: () => MODEL, models: () => [MODEL] },
      broker: await brokerFor("coordinator", url, stack),
    });
    stack.defer(() => coordinator.close());
    await coordinator.start();
  }

  interface Worker {
    readonly machine: string;
    readonly models: readonly string[];
    readonly its?: string;
  }

  async function startWorker(url: string, stack: AsyncDisposableStack, { machine, models, its = build }: Worker) {
    const work = join(directory.path, Bun.randomUUIDv7());
    mkdirSync(work, { recursive: true });
    const worker = new FleetWorker({
      ...{ build: its, version: "1", now: Date.now, log, machine, instance: "i", directory: work, engine },
      broker: await brokerFor(machine, url, stack),
      models: () => models.map((sha256) => ({ path: "/model", sha256, prepare: async () => null })),
      status: () => ({ devices: ["CPU"], trouble: null }),
      device: () => ({ device: "cpu", gpu: "" }),
    });
    stack.defer(() => worker.stop());
  }

  const all = async (context: ReturnType<typeof contextFor>) =>
    (await Promise.all(ids.map(async (id) => [id, await runCheck(id, context)] as const))).map(
      ([id, found]) => `${id} ${tell(found)}`,
    );

  /** The finding about a broker without a fault. On a busy machine its round trip is slow, of which the check warns. */
  const reached = /^fleet\.broker (ok: tls:\S+, round trip (\d{1,2}|100) ms|warning: tls:\S+, round trip \d{3,} ms)/;

  test.concurrent("report a worker that waits for a coordinator, and a coordinator whose server is down", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await startBroker(stack);
    const [, broker, clock, machines] = await all(contextFor("w1", url));
    expect(broker).toMatch(reached);
    expect(clock).toContain("skipped");
    expect(machines).toMatch(/problem: no coordinator of this build .*Start the coordinator/);
    const seen = await all(contextFor("coordinator", url));
    expect(seen[1]).toMatch(reached);
    expect(seen[3]).toMatch(/problem: the coordinator's server does not answer → Start it/);
  });

  test.concurrent("report no problem of a whole fleet, from either side", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await startBroker(stack);
    await startCoordinator(url, stack);
    await startWorker(url, stack, { machine: "w1", models: [MODEL] });
    for (const machine of ["coordinator", "w1"]) {
      const found = await all(contextFor(machine, url));
      expect(found.filter((text) => !reached.test(text) && !/^fleet\.\w+ ok: /.test(text))).toEqual([]);
    }
    const ahead = await all(contextFor("w1", url, { days: 1 / 24 }));
    expect(ahead[2]).toMatch(/problem: this machine's clock is 3\d\d\d s ahead of the broker's → Synchronize/);
  });

  test.concurrent("report a fleet without workers, which is a problem only if the coordinator does no work", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await startBroker(stack);
    await startCoordinator(url, stack);
    const [none, working] = await Promise.all([
      all(contextFor("coordinator", url, { workHere: false })),
      all(contextFor("coordinator", url)),
    ]);
    expect(none[3]).toMatch(/problem: no worker reports → Start one/);
    expect(working[3]).toMatch(/warning: no worker reports/);
  });

  test.concurrent("report workers with a problem, and what mends it", async () => {
    await using stack = new AsyncDisposableStack();
    const url = await startBroker(stack);
    await startCoordinator(url, stack);
    await startWorker(url, stack, { machine: "w1", models: [] });
    await startWorker(url, stack, { machine: "w2", models: [MODEL], its: "0-old" });
    const [, , , machines] = await all(contextFor("coordinator", url));
    expect(machines).toContain("warning: 2 workers, 2 lanes; 2 workers with a problem");
    expect(machines).toContain(
      "w1: it lacks the model with the digest aaaaaaaaaaaa; run on it: transcribe models import FILE",
    );
    expect(machines).toContain(
      `w2: it runs another build of version 1 (0-old) than the coordinator (${build}); install`,
    );
  });

  test.concurrent("report a broker whose messages are too small", async () => {
    await using small = await new NatsServer(program ?? "", "max_payload: 1048576\n").start();
    const files = { ca: "", certificate: "", key: "" };
    const found = await runCheck("fleet.broker", contextFor("coordinator", small.url, { files }));
    expect([found.status, found.advice]).toEqual([
      "problem",
      "Set max_payload = 8388608 in nats.conf and reload the broker.",
    ]);
  });
});
