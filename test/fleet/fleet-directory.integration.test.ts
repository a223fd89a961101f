import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { Broker, FleetDirectory } from "../../src/fleet/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { filesOf } from "../support/scripted-fleet.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of a broker with other settings than a fleet's");
const log = createLogger("silent");
const NEW = { broker: ["127.0.0.1"], port: 4222, workers: ["w1", "w2"] };

describe("the directory of a fleet", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "fleet");
  const open = () => FleetDirectory.open(path);
  afterAll(() => directory[Symbol.dispose]());
  beforeAll(async () => void (await FleetDirectory.create(path, NEW, Date.now())));

  test("has a folder for each machine, and keys that only the owner can read", () => {
    const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const found = files.map((file) => join(file.parentPath, file.name).slice(path.length + 1)).toSorted();
    const machines = ["coordinator", "w1", "w2"];
    const names = ["ca.pem", "certificate.pem", "fleet.toml", "key.pem"];
    expect(found).toEqual(
      [
        ...["ca-key.pem", "ca.pem", "fleet.json"],
        ...["ca.pem", "certificate.pem", "key.pem", "nats.conf"].map((name) => `broker/${name}`),
        ...machines.flatMap((machine) => names.map((name) => `${machine}/${name}`)),
      ].toSorted(),
    );
    const keys = found.filter((name) => name.endsWith("key.pem"));
    expect(keys.map((name) => statSync(join(path, name)).mode & 0o777)).toEqual(keys.map(() => 0o600));
  });

  test("is not overwritten", async () => {
    const before = readFileSync(join(path, "ca.pem"), "utf8");
    await expect(FleetDirectory.create(path, NEW, Date.now())).rejects.toThrow("is not empty");
    expect(readFileSync(join(path, "ca.pem"), "utf8")).toBe(before);
  });

  test.each([
    ["../w3", "is not a name"],
    ["w 3", "is not a name"],
    ["", "is not a name"],
    ["Coordinator", "is reserved"],
    ["broker", "is reserved"],
    ["W1", "has a worker W1 already"],
  ])("a worker cannot be called %p", async (name, reason) => {
    await expect(open().add({ workers: [name] }, Date.now())).rejects.toThrow(reason);
    expect(readdirSync(path).toSorted()).toEqual([
      ...["broker", "ca-key.pem", "ca.pem", "coordinator", "fleet.json", "w1", "w2"],
    ]);
  });

  test.each(["", "10.0.0.5:4222", "tls://host", "ho st", '"'])("%p is no address of a broker", async (host) => {
    const other = join(directory.path, "other");
    await expect(FleetDirectory.create(other, { ...NEW, broker: [host] }, Date.now())).rejects.toThrow("is not a host");
    expect(existsSync(other)).toBe(false);
  });

  test("admits further workers, renews a certificate, and forgets a revoked worker", async () => {
    const conf = () => readFileSync(join(path, "broker", "nats.conf"), "utf8");
    const first = readFileSync(join(path, "w1", "certificate.pem"), "utf8");
    await open().add({ workers: ["w3"] }, Date.now());
    expect([open().workers, conf().includes('"CN=w3"')]).toEqual([["w1", "w2", "w3"], true]);
    await open().renew(["w1"], Date.now());
    expect(readFileSync(join(path, "w1", "certificate.pem"), "utf8")).not.toBe(first);
    open().revoke("w3");
    expect([open().workers, conf().includes('"CN=w3"'), existsSync(join(path, "w3"))]).toEqual([
      ["w1", "w2"],
      false,
      false,
    ]);
    expect(() => open().revoke("w3")).toThrow("has no worker or pool w3; its workers: w1, w2");
    await expect(open().add({ workers: ["w3"] }, Date.now())).rejects.toThrow(
      "its old certificate would be accepted again",
    );
  });
});

describe("a machine's certificate", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "fleet");
  afterAll(() => directory[Symbol.dispose]());
  beforeAll(async () => {
    await FleetDirectory.create(path, NEW, Date.now());
    await FleetDirectory.create(join(directory.path, "expired"), NEW, Date.parse("2001-01-01"));
    await FleetDirectory.create(join(directory.path, "future"), NEW, Date.parse("2090-01-01"));
  });

  test.each([
    ["of another machine", () => ({ ...filesOf(path, "w1"), machine: "w2" }), 'set fleet.machine = "w1"'],
    ["that is missing", () => filesOf(path, "w9"), "cannot be read"],
    ["that is not set", () => ({ ...filesOf(path, "w1"), certificate: "" }), "fleet.certificate is not set"],
    ["with another key", () => ({ ...filesOf(path, "w1"), key: filesOf(path, "w2").key }), "does not belong"],
    ["that is no PEM file", () => ({ ...filesOf(path, "w1"), ca: join(path, "fleet.json") }), "must be PEM"],
    ["that expired", () => filesOf(join(directory.path, "expired"), "w1"), "expired on"],
    ["of a slow clock", () => filesOf(join(directory.path, "future"), "w1"), "set the clock"],
  ])("%s is refused before a connection, with the way to mend it", async (_, options, reason) => {
    await expect(Broker.connect({ url: "tls://127.0.0.1:1", log, ...options() })).rejects.toThrow(reason);
  });
});

describe.skipIf(program === null)("a broker with other settings", () => {
  const start = (config: string) => new NatsServer(program ?? "", config).start();
  const join1 = (url: string) => Broker.connect({ url, ca: "", certificate: "", key: "", machine: "coordinator", log });

  test("is refused when its messages are too small, with the line to set", async () => {
    await using server = await start("max_payload: 1048576\n");
    await expect(join1(server.url)).rejects.toThrow("set max_payload = 8388608 in nats.conf");
  });

  test.concurrent("is refused when it stores the stream in files, by a server at its start and by fleet status", async () => {
    await using server = await start("max_payload: 8388608\n");
    const connection = await connect({ servers: server.url });
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: "TRANSCRIBE_WORK", subjects: ["transcribe.work.>"], storage: "file" });
    await connection.close();
    using data = temporaryDirectory();
    const settings = ["--fleet", server.url, "--data-dir", data.path];
    const results = await Promise.all([
      runCli(["serve", "--port", "0", ...settings]),
      runCli(["fleet", "status", ...settings], { TRANSCRIBE_FLEET_MACHINE: "coordinator" }),
    ]);
    const reason = "is stored in files, which must not hold audio; stop the broker, remove the folder";
    expect(results.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
      [1, expect.stringContaining(reason)],
      [1, expect.stringContaining(reason)],
    ]);
  });

  test.concurrent("is refused after a restart that makes its messages too small or takes JetStream away", async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, "fleet");
    await FleetDirectory.create(path, NEW, Date.now());
    const conf = join(path, "broker", "nats.conf");
    const right = readFileSync(conf, "utf8");
    await using server = await NatsServer.withFolder(program ?? "", join(path, "broker")).start();
    const broker = await Broker.connect({ url: server.url, ...filesOf(path, "coordinator"), log });
    const restartWith = async (text: string) => {
      const back = Promise.withResolvers<void>();
      broker.onChange((connected) => connected && back.resolve());
      writeFileSync(conf, text);
      await server.stop();
      await server.start();
      await back.promise;
    };
    await restartWith(right.replace("max_payload: 8388608", "max_payload: 1048576"));
    await expect(broker.stream.reset()).rejects.toThrow("of at most 1048576 bytes; set max_payload = 8388608");
    await restartWith(right.replace(/^jetstream \{.*?^\}/ms, ""));
    await expect(broker.stream.reset()).rejects.toThrow(
      "offers no JetStream (jetstream is not enabled); start it with",
    );
    await restartWith(right);
    await broker.stream.reset();
    await broker.close();
  });
});
