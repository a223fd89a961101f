import { expect, test } from "bun:test";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { encode, POOL_STREAM_BYTES, subjects } from "../../src/fleet/messages.ts";
import { expected, presenceOf, present, ScriptedEngine, ScriptedFleet, textOf } from "../support/scripted-fleet.ts";

const program = await natsServerProgram("the test of a pool whose stream is full");

test.skipIf(program === null)(
  "a pool that claims many lanes and computes nothing fills its own stream, and others continue",
  async () => {
    await using fleet = await ScriptedFleet.start(program, ["w1"], ["gpu"]);
    const { engine } = await fleet.coordinator(false);
    const hoarder = await fleet.intrude("gpu.hoarder");
    const presence = { ...JSON.parse(new TextDecoder().decode(presenceOf("gpu.hoarder"))), lanes: 1000 };
    const report = () => hoarder.publish(subjects.presence("gpu.hoarder"), encode({ ...presence, clock: Date.now() }));
    report();
    const reporting = setInterval(report, 1000);
    fleet.defer(() => clearInterval(reporting));
    await present(engine, 1);
    // Each part has a minute of sound, 1.9 MB: together they are larger than the pool's stream.
    const parts = 260;
    const controller = new AbortController();
    const running = Array.from({ length: parts }, () =>
      fleet.ask(engine, 0, { seconds: 60, signal: controller.signal }).then(textOf, () => "aborted"),
    );
    let sent = -1;
    while (engine.counts.sentBytes !== sent) {
      sent = engine.counts.sentBytes;
      await Bun.sleep(2000);
    }
    expect(sent).toBeGreaterThan(0.5 * POOL_STREAM_BYTES);
    expect(sent).toBeLessThan(POOL_STREAM_BYTES);
    expect(engine.load().waiting).toBeGreaterThan(0);
    await fleet.worker("w1", new ScriptedEngine(2, () => Bun.sleep(1)));
    const others = await Promise.all([1, 2, 3].map((at) => fleet.ask(engine, at)));
    expect(others.map(textOf)).toEqual([1, 2, 3].map(expected));
    controller.abort();
    await Promise.all(running);
  },
  300_000,
);
