import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { FleetDirectory, fleetStatus } from "../../src/fleet/index.ts";
import { expectRefused } from "../support/broker-refusals.ts";
import { expected, filesOf, model, ScriptedFleet, textOf } from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of a fleet's certificates with a real broker");
const start = () => ScriptedFleet.start(program, ["w1", "w2", "w3", "w4"]);

describe.skipIf(program === null)("a broker with the files of a fleet's directory", () => {
  test.concurrent("lets the coordinator distribute an operation to a worker", async () => {
    await using fleet = await start();
    const { engine } = await fleet.coordinator(false);
    await fleet.worker("w1");
    expect(textOf(await fleet.ask(engine, 1))).toBe(expected(1));
    expect(engine.machines().map(({ machine, problem }) => [machine, problem])).toEqual([["w1", null]]);
  });

  test.concurrent("shows the coordinator all workers with their problems, and shows a worker nothing", async () => {
    await using fleet = await start();
    const own = { version: "1", build: "test" };
    const see = async (machine: string) => fleetStatus(await fleet.connect(machine), own, Date.now);
    await expect(see("w1")).rejects.toThrow("run transcribe fleet status on the coordinator's machine");
    await fleet.coordinator(false);
    await fleet.worker("w1");
    await fleet.worker("w2", undefined, { build: "0-old", version: "0" });
    await fleet.worker("w3", undefined, { now: () => Date.now() - 3_600_000 });
    await fleet.worker("w4", undefined, { models: () => [] });
    const { coordinator: found, machines } = await see("coordinator");
    expect(found).toMatchObject({ version: "1", build: "test", models: [model.sha256], workHere: false });
    expect(machines.map(({ machine, problem, missingModels }) => ({ machine, problem, missingModels }))).toEqual([
      { machine: "w1", problem: null, missingModels: [] },
      { machine: "w2", problem: expect.stringContaining("install the coordinator's version"), missingModels: [] },
      { machine: "w3", problem: expect.stringContaining("its clock differs by 3600 s"), missingModels: [] },
      { machine: "w4", problem: null, missingModels: [model.sha256] },
    ]);
    expect(machines.map(({ clockDifferenceSeconds }) => Math.abs(clockDifferenceSeconds) > 3000)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  test.concurrent("lets a worker neither read nor publish what is not its own", async () => {
    await using fleet = await start();
    const owner = await fleet.connect("coordinator");
    await owner.stream.reset();
    const connection = await fleet.intrude("w1");
    const read = ["transcribe.work.>", "transcribe.started.>", "transcribe.result.>", "transcribe.presence.*"];
    const publish = [
      ...[
        "transcribe.presence.w2",
        "transcribe.started.c1.w2",
        "transcribe.result.c1.w2",
        "transcribe.work.test.none",
        "transcribe.cancel.c1",
        "_INBOX.w2.x",
      ],
      ...["transcribe.status.w1", "_INBOX.coordinator.x", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.OTHER"],
      ...["CREATE", "UPDATE", "DELETE", "PURGE", "MSG.GET"].map((action) => `$JS.API.STREAM.${action}.TRANSCRIBE_WORK`),
      ...["CREATE", "DELETE"].map((action) => `$JS.API.CONSUMER.${action}.TRANSCRIBE_WORK.own`),
      ...["$JS.API.DIRECT.GET.TRANSCRIBE_WORK", "$SYS.REQ.SERVER.PING", "other"],
    ];
    const subscribe = [
      ...read,
      "transcribe.>",
      "transcribe.status.*",
      "_INBOX.>",
      "_INBOX.w2.>",
      ">",
      "$SYS.>",
      "other",
    ];
    await expectRefused(connection, publish, subscribe);
  });

  test.concurrent("stores no stream in files, not even the coordinator's", async () => {
    await using fleet = await start();
    const connection = await fleet.intrude("coordinator");
    const manager = await jetstreamManager(connection);
    await manager.streams.delete("TRANSCRIBE_WORK").catch(() => {});
    const added = manager.streams.add({
      ...{ name: "TRANSCRIBE_WORK", subjects: ["transcribe.work.>"], storage: "file", max_bytes: 1024 },
    });
    await expect(added).rejects.toThrow("insufficient storage");
  });

  test.concurrent.each(["w1", "coordinator"])(
    "refuses the certificate of another authority for %s",
    async (machine) => {
      await using fleet = await start();
      const foreign = join(fleet.directory, "foreign");
      await FleetDirectory.create(foreign, { broker: ["127.0.0.1"], port: 4222, workers: ["w1"] }, Date.now());
      const files = filesOf(foreign, machine);
      await expect(fleet.connect(machine, files)).rejects.toThrow("is of another authority than fleet.ca");
      const mixed = { ...files, ca: fleet.filesOf(machine).ca };
      await expect(fleet.connect(machine, mixed)).rejects.toThrow("was not issued by the authority");
      // A program that does not check its own files is refused by the broker.
      await expect(fleet.intrude(machine, files)).rejects.toThrow();
    },
  );

  test.concurrent("refuses a connection without a certificate", async () => {
    await using fleet = await start();
    const tls = { caFile: fleet.filesOf("w1").ca };
    await expect(connect({ servers: fleet.broker.url, tls, reconnect: false })).rejects.toThrow();
  });

  test.concurrent("refuses a worker that was revoked, from the reload on", async () => {
    await using fleet = await start();
    const before = join(fleet.directory, "before");
    cpSync(join(fleet.path ?? "", "w2"), join(before, "w2"), { recursive: true });
    const files = filesOf(before, "w2");
    const connection = await fleet.intrude("w2", files);
    FleetDirectory.open(fleet.path ?? "").revoke("w2");
    fleet.broker.reload();
    await connection.closed();
    await expect(fleet.connect("w2", files)).rejects.toThrow("has no user for this machine's certificate");
  });

  test.concurrent("is reached as localhost too, which its certificate names", async () => {
    await using fleet = await start();
    const url = fleet.broker.url.replace("127.0.0.1", "localhost");
    expect((await fleet.connect("w1", { url })).connected).toBe(true);
  });

  test.concurrent("cannot be impersonated with a worker's certificate", async () => {
    await using fleet = await start();
    const [folder, own] = [join(fleet.directory, "impostor"), fleet.filesOf("w1")];
    cpSync(join(fleet.path ?? "", "broker"), folder, { recursive: true });
    cpSync(own.certificate, join(folder, "certificate.pem"));
    cpSync(own.key, join(folder, "key.pem"));
    await using impostor = await NatsServer.withFolder(program ?? "", folder).start();
    const { url } = impostor;
    await expect(fleet.connect("coordinator", { url })).rejects.toThrow("cannot connect to the broker");
  });
});
