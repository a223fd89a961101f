import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { BrokerRegister, FenceError, ReplacedError, ServingLease } from "../../src/standby/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { expectRefused } from "../support/broker-refusals.ts";
import { ScriptedFleet } from "../support/scripted-fleet.ts";
import { FencedPair, fencedBy } from "./fenced-pair.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of a fence in a real broker");
const start = () => ScriptedFleet.start(program, ["w1"], ["gpu"]);
const clock = { monotonic: () => performance.now(), wall: Date.now };
const log = createLogger("silent");

async function register(fleet: ScriptedFleet): Promise<BrokerRegister> {
  const broker = await fleet.connect("coordinator", { waits: true });
  return new BrokerRegister(broker.leaseStream(), () => broker.close());
}

/** Returns the lease of a coordinator whose epoch names it. */
async function lease(fleet: ScriptedFleet, epoch: number, milliseconds = 1500): Promise<ServingLease> {
  const holder = { owner: String(epoch).padStart(32, "0"), host: `host-${epoch}`, epoch };
  const made = new ServingLease({ register: await register(fleet), holder, milliseconds, clock, log });
  fleet.defer(() => made.release());
  return made;
}

/** Repeats a use of the broker until the connection is back. */
async function untilAnswered<T>(use: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await use();
    } catch (error) {
      if (!(error instanceof FenceError)) throw error;
      await Bun.sleep(20);
    }
  }
}

const record = (epoch: number) =>
  ({ epoch, owner: "0".repeat(32), host: "h", state: "held", milliseconds: 2000, at: 0 }) as const;

describe.skipIf(program === null)("a lease in a broker", () => {
  test.concurrent("is written by the one of two machines that has seen the last write", async () => {
    await using fleet = await start();
    const [first, second] = [await register(fleet), await register(fleet)];
    const empty = await first.read();
    expect(empty.record).toBeNull();
    expect((await second.read()).version).toBe(empty.version);
    const written = await first.replace(empty.version, record(1));
    expect(written).not.toBeNull();
    expect(await second.replace(empty.version, record(2))).toBeNull();
    expect(await second.read()).toEqual({ record: record(1), version: written ?? "" });

    // A broker that starts again counts from one again, but does not take an earlier write for the last one.
    await fleet.broker.stop();
    await expect(first.read()).rejects.toThrow(FenceError);
    await fleet.broker.start();
    const after = await untilAnswered(() => first.read());
    expect(after.record).toBeNull();
    expect(await first.replace(after.version, record(3))).not.toBeNull();
    expect(await untilAnswered(() => second.replace(written ?? "", record(4)))).toBeNull();
    expect((await first.read()).record).toEqual(record(3));
  });

  test.concurrent("can be neither read nor changed with the certificate of a worker or a pool", async () => {
    await using fleet = await start();
    const held = await lease(fleet, 1);
    await held.acquire({ persists: true });
    const owner = await register(fleet);
    const before = await owner.read();
    const actions = ["CREATE", "UPDATE", "DELETE", "PURGE", "INFO", "MSG.GET", "MSG.DELETE", "SNAPSHOT", "RESTORE"];
    for (const machine of ["w1", "gpu"]) {
      const connection = await fleet.intrude(machine);
      const publish = [
        "transcribe.lease",
        ...actions.map((action) => `$JS.API.STREAM.${action}.TRANSCRIBE_LEASE`),
        "$JS.API.DIRECT.GET.TRANSCRIBE_LEASE",
        "$JS.API.CONSUMER.CREATE.TRANSCRIBE_LEASE.own",
        "$JS.API.CONSUMER.DURABLE.CREATE.TRANSCRIBE_LEASE.own",
        "$JS.API.CONSUMER.MSG.NEXT.TRANSCRIBE_LEASE.own",
      ];
      await expectRefused(connection, publish, ["transcribe.lease", "transcribe.>", "$JS.EVENT.ADVISORY.>"]);
    }
    expect(await owner.read()).toEqual(before);
  });

  test.concurrent("stays with the server of the greater epoch when the broker starts again, whoever is first", async () => {
    await using fleet = await start();
    // The servers need a second to connect again.
    const [old, current] = [await lease(fleet, 1, 4000), await lease(fleet, 2, 4000)];
    await current.acquire({ persists: true });
    current.keep();
    let lapses = 0;
    current.onChange((isHeld) => (lapses += isHeld ? 0 : 1));
    await fleet.broker.stop();
    // The former server starts while the broker knows no lease.
    const returned = old.acquire({ persists: true });
    await fleet.broker.start();
    await expect(returned).rejects.toThrow(ReplacedError);
    expect([old.isHeld, current.isHeld]).toEqual([false, true]);
    expect(lapses).toBe(0);
  });

  test.concurrent("moves to the server of the greater epoch, and both never hold it at the same time", async () => {
    await using fleet = await start();
    const [old, current] = [await lease(fleet, 1), await lease(fleet, 2)];
    await old.acquire({ persists: true });
    old.keep();
    let both = 0;
    const watch = setInterval(() => (both += old.isHeld && current.isHeld ? 1 : 0), 1);
    fleet.defer(() => clearInterval(watch));
    await current.acquire({ persists: true });
    expect([old.isHeld, current.isHeld, both]).toEqual([false, true, 0]);
    expect(await old.replaced).toMatchObject({ host: "host-2", epoch: 2, state: "waiting" });
  });

  test.concurrent("lapses for a server that the broker can't be reached from, and is held again afterwards", async () => {
    await using fleet = await start();
    const held = await lease(fleet, 1);
    await held.acquire({ persists: true });
    held.keep();
    const changes: boolean[] = [];
    const changed = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    held.onChange((isHeld) => {
      changed[changes.length]?.resolve();
      changes.push(isHeld);
    });
    await fleet.broker.stop();
    await changed[0]?.promise;
    expect(held.trouble()).toBe("it can't renew its lease, so another server may have taken over");
    expect(() => held.check()).toThrow("it can't renew its lease");
    await fleet.broker.start();
    await changed[1]?.promise;
    expect([changes, held.trouble()]).toEqual([[false, true], null]);
  });

  test.concurrent("lets a standby take over from a server that was killed, and the former one refuses", async () => {
    await using fleet = await start();
    const { ca, certificate, key } = fleet.filesOf("coordinator");
    await using pair = FencedPair.with({
      ...fencedBy("broker"),
      TRANSCRIBE_FLEET_BROKER: fleet.broker.url,
      TRANSCRIBE_FLEET_CA: ca,
      TRANSCRIBE_FLEET_CERTIFICATE: certificate,
      TRANSCRIBE_FLEET_KEY: key,
      TRANSCRIBE_FLEET_MACHINE: "coordinator",
    });
    const { first, second } = pair;
    await first.start(false);
    const client = first.client("acme");
    const before = await client.create(samplePath("sample.wav"));
    await first.killHard();
    pair.copy();
    const promoted = await second.cli("promote", "--json");
    expect(promoted.stderr).toBe("");
    expect(JSON.parse(promoted.stdout)).toMatchObject({ promoted: true, epoch: 2 });
    await second.start(false);
    expect((await new TestClient(second.baseUrl, client.key).get(before.id)).id).toBe(before.id);
    await expect(first.start(false)).rejects.toThrow("exited with 6");
  });
});
