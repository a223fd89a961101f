import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { NatsServer, natsServerProgram } from "../../../harness/nats-server.ts";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import type { Finding } from "../../../src/diagnostics/index.ts";
import { FleetDirectory } from "../../../src/fleet/index.ts";
import { fleetIdentity } from "../../../src/server/index.ts";
import { filesOf as filesIn, ScriptedEngine, ScriptedFleet } from "../../support/scripted-fleet.ts";
import { contextOf, runCheck } from "./support.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("doctor's checks of a fleet with a real broker");
const ids = ["fleet.certificate", "fleet.broker", "fleet.clock", "fleet.machines"];
const DAY = 86_400_000;

const directory = temporaryDirectory();
const path = join(directory.path, "fleet");
afterAll(() => directory[Symbol.dispose]());
beforeAll(async () => {
  await FleetDirectory.create(path, { broker: ["127.0.0.1"], port: 4222, workers: ["w1", "w2"] }, Date.now());
});

const filesOf = (machine: string) => filesIn(path, machine);

/** Creates the context of a machine of the fleet; a worker of a pool is called `POOL.INSTANCE`. @param days difference of the machine's clock */
function contextFor(machine: string, url: string, { days = 0, files = filesOf(machine), workHere = true } = {}) {
  const [name = "", pool = ""] = machine.split(".").toReversed();
  const flags = {
    ...{ "fleet.broker": url, "fleet.machine": name, "fleet.pool": pool, "fleet.work_here": String(workHere) },
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

/** A coordinator's check collects the workers' reports for four seconds, so the tests run at the same time. */
describe.skipIf(program === null)("the checks of a fleet with a broker", () => {
  let build = "";
  beforeAll(async () => {
    build = (await fleetIdentity({ machine: "", pool: "" })).build;
  });
  const start = () => ScriptedFleet.start(program, ["w1", "w2"], ["gpu"]);
  const contextIn = (fleet: ScriptedFleet, machine: string, others: { workHere?: boolean; days?: number } = {}) =>
    contextFor(machine, fleet.broker.url, { files: fleet.filesOf(machine), ...others });

  const all = async (context: ReturnType<typeof contextFor>) =>
    (await Promise.all(ids.map(async (id) => [id, await runCheck(id, context)] as const))).map(
      ([id, found]) => `${id} ${tell(found)}`,
    );

  /** The finding about a broker without a fault. On a busy machine its round trip is slow, of which the check warns. */
  const reached = /^fleet\.broker (ok: tls:\S+, round trip (\d{1,2}|100) ms|warning: tls:\S+, round trip \d{3,} ms)/;

  test.concurrent("report a worker that waits for a coordinator, and a coordinator whose server is down", async () => {
    await using fleet = await start();
    const [, broker, clock, machines] = await all(contextIn(fleet, "w1"));
    expect(broker).toMatch(reached);
    expect(clock).toContain("skipped");
    expect(machines).toMatch(/problem: no coordinator of this build .*Start the coordinator/);
    const seen = await all(contextIn(fleet, "coordinator"));
    expect(seen[1]).toMatch(reached);
    expect(seen[3]).toMatch(/problem: the coordinator's server does not answer → Start it/);
  });

  test.concurrent("report no problem of a whole fleet, from either side", async () => {
    await using fleet = await start();
    await fleet.coordinator(false, { build });
    await fleet.worker("w1", undefined, { build });
    for (const machine of ["coordinator", "w1"]) {
      const found = await all(contextIn(fleet, machine));
      expect(found.filter((text) => !reached.test(text) && !/^fleet\.\w+ ok: /.test(text))).toEqual([]);
    }
    const ahead = await all(contextIn(fleet, "w1", { days: 1 / 24 }));
    expect(ahead[2]).toMatch(/problem: this machine's clock is 3\d\d\d s ahead of the broker's → Synchronize/);
  });

  test.concurrent("report a worker of a pool, its certificate and, while no worker of the pool runs, how to start it", async () => {
    await using fleet = await start();
    await fleet.coordinator(false, { build });
    const [certificate, , , none] = await all(contextIn(fleet, "gpu.a"));
    expect(certificate).toStartWith("fleet.certificate ok: gpu.a, until");
    expect(none).toMatch(/warning: no worker of the pool gpu is present.*→ Start the worker/);
    await fleet.worker("gpu.a", undefined, { build });
    let found = none;
    while (found?.includes("warning") === true) found = (await all(contextIn(fleet, "gpu.a")))[3];
    expect(found).toContain("ok: gpu.a: a coordinator of this build uses the broker");
    const [old] = await all(contextIn(fleet, "gpu.a", { days: 720 }));
    expect(old).toContain("--renew gpu.");
  });

  test.concurrent("report a fleet without workers, which is a problem only if the coordinator does no work", async () => {
    await using fleet = await start();
    await fleet.coordinator(false, { build });
    const [none, working] = await Promise.all([
      all(contextIn(fleet, "coordinator", { workHere: false })),
      all(contextIn(fleet, "coordinator")),
    ]);
    expect(none[3]).toMatch(/problem: no worker reports → Start one/);
    expect(working[3]).toMatch(/warning: no worker reports/);
  });

  test.concurrent("report workers with a problem, and what mends it", async () => {
    await using fleet = await start();
    await fleet.coordinator(false, { build });
    await fleet.worker("w1", new ScriptedEngine(2), { build, models: () => [] });
    await fleet.worker("w2", undefined, { build: "0-old" });
    const [, , , machines] = await all(contextIn(fleet, "coordinator"));
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
    const files = { machine: "coordinator", ca: "", certificate: "", key: "" };
    const found = await runCheck("fleet.broker", contextFor("coordinator", small.url, { files }));
    expect([found.status, found.advice]).toEqual([
      "problem",
      "Set max_payload = 8388608 in nats.conf and reload the broker.",
    ]);
  });
});
