import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NatsServer, natsServerProgram } from "../../harness/nats-server.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { runHere } from "./run-here.ts";

setDefaultTimeout(60_000);

const program = await natsServerProgram("tests of the fleet's commands with a real broker");

describe("the commands of a fleet", () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, "fleet");
  const init = (...args: readonly string[]) => runHere(["fleet", "init", "--directory", path, ...args]);
  afterAll(() => directory[Symbol.dispose]());

  test("refuse a wrong command line, and create nothing", async () => {
    const none = join(directory.path, "none");
    const rows: [string[], string][] = [
      [["init"], "required option '--directory"],
      [["init", "--directory", none], "a new fleet needs --broker HOST, and --worker NAME or --pool NAME"],
      [["init", "--directory", none, "--broker", "h", "--add", "w"], "leave out --broker and --worker"],
      [["init", "--directory", none, "--broker", "h", "--worker", "w", "--port", "65536"], "65535"],
      [["init", "--directory", none, "--broker", "h", "--pool", "a b"], '"a b" is not a name'],
      [["init", "--directory", none, "--broker", "h", "--worker", "w", "--pool", "W"], "the name W is given twice"],
      [["status"], "fleet.broker is not set, so this machine works alone"],
    ];
    const results = await Promise.all(rows.map(([args]) => runHere(["fleet", ...args])));
    expect(results.map(({ exitCode, stdout, stderr }) => [exitCode, stdout, stderr])).toEqual(
      rows.map(([, reason]) => [2, "", expect.stringContaining(reason)]),
    );
    expect(existsSync(none)).toBe(false);
  });

  test("say which directory is needed to change a fleet", async () => {
    const { exitCode, stderr } = await runHere(["fleet", "revoke", "w3", "--directory", join(directory.path, "none")]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("name the directory of")]);
  });

  test("create a fleet once, and change it", async () => {
    const created = await init("--broker", "127.0.0.1", "--worker", "w1", "--json");
    expect(JSON.parse(created.stdout)).toEqual({
      ...{ directory: path, broker: "tls://127.0.0.1:4222", workers: ["w1"], pools: [] },
      folders: ["broker", "coordinator", "w1"],
    });
    const again = await init("--broker", "127.0.0.1", "--worker", "w1");
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("nothing in it is overwritten")]);
    expect((await init("--add", "w2")).stdout).toContain("systemctl reload transcribe-broker");
    expect((await runHere(["fleet", "revoke", "w2", "--directory", path])).stdout).toContain("removed w2");
    const conf = () => readFileSync(join(path, "broker", "nats.conf"), "utf8");
    expect(conf()).not.toContain("CN=w2");
    const pools = JSON.parse((await init("--pool", "gpu", "cpu", "--json")).stdout);
    expect(pools).toMatchObject({ workers: ["w1"], pools: ["gpu", "cpu"], folders: ["gpu", "cpu"] });
    expect(readFileSync(join(path, "gpu", "fleet.toml"), "utf8")).toContain('pool = "gpu"');
    expect((await runHere(["fleet", "revoke", "gpu", "--directory", path])).stdout).toContain("removed gpu");
    expect([conf().includes("CN=gpu"), conf().includes("CN=cpu")]).toEqual([false, true]);
  });

  test.skipIf(program === null)("show the fleet to the coordinator only", async () => {
    await using server = await NatsServer.withFolder(program ?? "", join(path, "broker")).start();
    const line = (machine: string, ...args: readonly string[]) => [
      ...["fleet", "status", "--config", join(path, machine, "fleet.toml"), "--fleet", server.url],
      ...["--data-dir", join(directory.path, "data"), ...args],
    ];
    const status = (machine: string) => runHere(line(machine));
    const [coordinator, text, worker] = await Promise.all([
      // A process ends only when its connection is closed.
      runCli(line("coordinator", "--json")),
      status("coordinator"),
      status("w1"),
    ]);
    expect(JSON.parse(coordinator.stdout)).toEqual({
      broker: { url: server.url, round_trip_milliseconds: expect.any(Number) },
      ...{ coordinator: null, machines: [] },
    });
    expect(text.stdout).toContain("no worker reports; start one on its machine: transcribe worker");
    expect([worker.exitCode, worker.stderr]).toEqual([1, expect.stringContaining("on the coordinator's machine")]);
    expect(existsSync(join(directory.path, "data"))).toBe(false);
    await server.stop();
    const lost = await status("coordinator");
    expect([lost.exitCode, lost.stderr]).toEqual([1, expect.stringContaining("check that nats-server runs there")]);
  });
});
