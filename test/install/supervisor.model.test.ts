import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { childrenOf } from "../../harness/processes.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { findSupervisor, Supervisor } from "../../src/install/supervisor.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";
import { Receiver } from "./receiver.ts";

const log = createLogger("silent");
const idle = { trouble: null, processing: 0, queued: 0 };
const onLinux = process.platform === "linux";

/** Returns a sender of messages, and the lines that it was given. */
function recorded() {
  const messages: string[] = [];
  return { messages, notify: (lines: readonly string[]) => messages.push(...lines) > 0 };
}

describe.skipIf(!onLinux)("a message to the service manager", () => {
  const directory = temporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());

  const addresses: [string, string][] = [
    ["a path", join(directory.path, "notify")],
    ["an abstract name", `@transcribe-test-${process.pid}`],
    ["the longest path there is", `${join(directory.path, "notify")}`.padEnd(107, "y")],
  ];
  test.each(addresses)("reaches %s", (_, address) => {
    using receiver = new Receiver(address);
    findSupervisor({ NOTIFY_SOCKET: address }, 1, log)?.ready(() => ({ ...idle, queued: 3 }));
    expect(receiver.messages).toEqual([["READY=1", "WATCHDOG=1", "STATUS=Ready; 0 processing, 3 queued."]]);
  });

  test("has the reason why a server is not ready, without a line that is an assignment", () => {
    const { messages, notify } = recorded();
    new Supervisor({ notify, watchdogMilliseconds: null, log }).ready(() => ({
      ...idle,
      trouble: "no model\nREADY=0",
    }));
    expect(messages).toEqual(["READY=1", "WATCHDOG=1", "STATUS=Not ready: no model READY=0; 0 processing, 0 queued."]);
  });

  test("is not sent while the server can't report its status", async () => {
    const { messages, notify } = recorded();
    let broken = true;
    new Supervisor({ notify, watchdogMilliseconds: 20, log }).ready(() => {
      if (broken) throw new Error("disk I/O error");
      return idle;
    });
    await Bun.sleep(100);
    expect(messages).toEqual([]);
    broken = false;
    while (messages.length === 0) await Bun.sleep(5);
    expect(messages).toContain("WATCHDOG=1");
  });

  test("reports a stopping server as alive, and not as ready", async () => {
    const { messages, notify } = recorded();
    const supervisor = new Supervisor({ notify, watchdogMilliseconds: 20, log });
    supervisor.ready(() => idle);
    supervisor.stopping();
    const before = messages.length;
    while (messages.length < before + 2) await Bun.sleep(5);
    expect(messages.slice(before)).toEqual(expect.arrayContaining(["WATCHDOG=1"]));
    expect(messages.slice(before)).not.toContain("READY=1");
  });
});

describe("the service manager", () => {
  const environments: [string, Record<string, string>][] = [
    ["none is named", {}],
    ["the name is empty", { NOTIFY_SOCKET: "" }],
    ["the name is a virtual machine's socket", { NOTIFY_SOCKET: "vsock:2:1234" }],
    ["the name is no path", { NOTIFY_SOCKET: "run/notify" }],
    ["the name is longer than an address may be", { NOTIFY_SOCKET: `/${"x".repeat(107)}` }],
  ];
  test.each(environments)("is not found when %s", (_, environment) => {
    expect(findSupervisor(environment, 1, log)).toBeNull();
  });

  test("may be silent without a failure of the server", () => {
    expect(() => findSupervisor({ NOTIFY_SOCKET: "/nowhere" }, 1, log)?.ready(() => idle)).not.toThrow();
  });
});

test.skipIf(!onLinux)(
  "serve reports that it is ready, alive and stopping, and its worker is the kernel's first choice without memory",
  async () => {
    using directory = temporaryDirectory();
    const address = join(directory.path, "notify");
    using receiver = new Receiver(address);
    const manager = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "200000" };
    await using server = new TestServer({ ...tinyRecognizer(), ...manager });
    await server.start();
    const ready = ["READY=1", "WATCHDOG=1", "STATUS=Ready; 0 processing, 0 queued."];
    await server.until(() => receiver.messages.some((lines) => Bun.deepEquals(lines, ready)));
    const [worker] = childrenOf(server.pid, "__worker");
    const inclination = (pid: number | undefined) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8"));
    expect(inclination(worker)).toBeGreaterThan(inclination(server.pid));
    expect(await server.stop()).toBe(0);
    expect(receiver.messages.flat()).toContain("STOPPING=1");
  },
  startTimeout,
);
