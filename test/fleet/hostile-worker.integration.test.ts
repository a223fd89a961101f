import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { natsServerProgram } from "../../harness/nats-server.ts";
import {
  encode,
  layOut,
  parse,
  replySchema,
  type Started,
  unpack,
  type Work,
  workSchema,
} from "../../src/fleet/messages.ts";
import { build, expected, model, presenceOf, ScriptedFleet, textOf } from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("a hostile worker with a valid certificate");
const machines = ["w1", "w2", "w3", "w4"];

const word = { text: "word", startSeconds: 0, endSeconds: 1, probability: 1 };
const done = (result: unknown) => ({ type: "done", result }) as const;
const honest = done({ words: [word], languages: { en: 1 } });
const answer = (id: string, outcome: unknown, others: object = {}, contents: readonly Uint8Array[] = []) => {
  const header = { id, outcome, device: "cpu", gpu: "", seconds: 1, attachments: [], ...others };
  return Buffer.concat([layOut(header, []).message, ...contents]);
};
const manySamples = { item: { kind: "pcm", firstSample: 0, sampleCount: 4 }, bytes: 8 };

/** Answers to an operation that must be refused. A machine that sends three is paused, so each sends at most two. */
const tampered: readonly [string, (id: string) => Uint8Array][] = [
  ["no message at all", () => new Uint8Array()],
  ["a header longer than the message", () => new Uint8Array([255, 255, 255, 255, 1, 2, 3])],
  ["a result of another shape", (id) => answer(id, done({ words: "all of them", languages: {} }))],
  ["a word without an end", (id) => answer(id, done({ words: [{ ...word, endSeconds: null }], languages: {} }))],
  [
    "a word after the recording's end",
    (id) => answer(id, done({ words: [{ ...word, endSeconds: 1e9 }], languages: {} })),
  ],
  ["samples for the recording", (id) => answer(id, honest, { attachments: [manySamples] }, [new Uint8Array(8)])],
  ["fewer bytes than it names", (id) => answer(id, honest, { attachments: [manySamples] }, [new Uint8Array(4)])],
  ["a negative duration", (id) => answer(id, honest, { seconds: -1 })],
];

describe.skipIf(program === null)("a worker with a valid certificate", () => {
  /** Connects as a program that has a machine's files, and reports one lane. */
  async function intrude(fleet: ScriptedFleet, machine: string): Promise<NatsConnection> {
    const connection = await fleet.intrude(machine);
    connection.publish(`transcribe.presence.${machine}`, presenceOf(machine));
    return connection;
  }

  /** Fetches the next operation and starts it. */
  async function start(connection: NatsConnection, machine: string): Promise<Work> {
    const consumer = await jetstream(connection).consumers.get("TRANSCRIBE_WORK", `work-${build}-${model.sha256}`);
    const message = await consumer.next({ expires: 20_000 });
    if (message === null) throw new Error("no operation arrives");
    message.ack();
    const { header } = unpack(workSchema, message.data);
    const started = encode({ id: header.id, starts: true, delivery: 1 } satisfies Started);
    expect(await ask(connection, `transcribe.started.c1.${machine}`, started)).toBe("go");
    return header;
  }

  async function ask(connection: NatsConnection, subject: string, message: Uint8Array): Promise<string> {
    return parse(replySchema, (await connection.request(subject, message, { timeout: 20_000 })).data).verdict;
  }

  test.concurrent("spoils no result with an invalid answer: each is refused and counted, and changes no file", async () => {
    await using fleet = await ScriptedFleet.start(program, machines);
    const samples = readFileSync(fleet.area.pcm.path);
    const { engine } = await fleet.coordinator(false, { coordinator: "c1" });
    const verdicts: string[] = [];
    for (const [at, [, bytes]] of tampered.entries()) {
      const machine = machines[Math.floor(at / 2)] ?? "";
      const connection = await intrude(fleet, machine);
      const subject = `transcribe.result.c1.${machine}`;
      const running = fleet.ask(engine, 0);
      const { id } = await start(connection, machine);
      verdicts.push(await ask(connection, subject, bytes(id)));
      expect(engine.counts.refusedResults).toBe(at + 1);
      // An answer that names its operation makes the coordinator publish it again.
      if ((await ask(connection, subject, answer(id, honest))) === "late") {
        const again = await start(connection, machine);
        expect(await ask(connection, subject, answer(again.id, honest))).toBe("go");
      }
      expect((await running).words).toEqual([word]);
    }
    expect(verdicts).toEqual(tampered.map(() => "refused"));
    expect(Buffer.compare(readFileSync(fleet.area.pcm.path), samples)).toBe(0);
    expect(readdirSync(fleet.area.directory)).toEqual([]);
    expect(engine.load()).toMatchObject({ waiting: 0, published: 0 });
  });

  test.concurrent("answers for no operation of another machine, and none that it was not given", async () => {
    await using fleet = await ScriptedFleet.start(program, machines);
    const { engine } = await fleet.coordinator(false, { coordinator: "c1" });
    const [first, second] = [await intrude(fleet, "w1"), await intrude(fleet, "w2")];
    const running = fleet.ask(engine, 0);
    const { id } = await start(first, "w1");
    const other = answer(id, done({ words: [{ ...word, text: "forged" }], languages: {} }));
    expect(await ask(second, "transcribe.result.c1.w2", other)).toBe("late");
    expect(await ask(second, "transcribe.result.c1.w2", answer("c1-1", honest))).toBe("late");
    expect(await ask(first, "transcribe.result.c1.w1", answer(id, honest))).toBe("go");
    expect((await running).words).toEqual([word]);
    expect(engine.counts.lateResults).toBe(2);
  });

  test.concurrent("the broker's files contain no samples", async () => {
    await using fleet = await ScriptedFleet.start(program, machines);
    const { engine } = await fleet.coordinator(false);
    await fleet.worker("w1");
    expect(textOf(await fleet.ask(engine, 0))).toBe(expected(0));
    const samples = readFileSync(fleet.area.pcm.path);
    const part = samples.subarray(1000, 1032);
    const files = [fleet.path ?? "", fleet.broker.directory].flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name)),
    );
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => readFileSync(file).includes(part))).toEqual([]);
  });
});
