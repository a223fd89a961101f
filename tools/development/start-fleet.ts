// scripts/start fleet: a whole fleet on this machine for a minute: broker, coordinator, two workers, a sample recording.
import { mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { root } from "../shared/checkout.ts";

/** Time that each process has to be ready: it loads its models, and tests the CPU at its first start. */
const READY_MILLISECONDS = 120_000;
const STOP_MILLISECONDS = 15_000;
const WORKERS = ["worker-1", "worker-2"];
const BROKER_PORT = 14222;
const SERVER_PORT = 18787;

const transcribe = join(root, "scripts/transcribe");
const recording = resolve(process.argv[2] ?? join(root, "build/samples/sample.wav"));
const directory = mkdtempSync(join(tmpdir(), "transcribe-fleet-"));
const running: Bun.Subprocess[] = [];

function step(text: string): void {
  console.error(`\nfleet: ${text}`);
}

/** Starts a process of the fleet; its output goes to a log file. */
function start(name: string, command: readonly string[], cwd = root): Bun.Subprocess {
  const log = openSync(join(directory, `${name}.log`), "w");
  // The server leaves all parts to the workers, so that a short recording shows them at work.
  const env = { ...process.env, TRANSCRIBE_FLEET_WORK_HERE: "false" };
  const child = Bun.spawn([...command], { cwd, env, stdio: ["ignore", log, log] });
  running.push(child);
  return child;
}

/** Runs a command to its end. @throws {Error} if it fails */
async function run(...args: readonly string[]): Promise<void> {
  const child = Bun.spawn([transcribe, ...args], { stdio: ["ignore", "inherit", "inherit"] });
  running.push(child);
  if ((await child.exited) !== 0) throw new Error(`transcribe ${args[0]} failed`);
}

/** Waits until a file of logs contains a text. @throws {Error} if the process ends before, or takes too long */
async function until(name: string, child: Bun.Subprocess, text: string): Promise<void> {
  const giveUpAt = performance.now() + READY_MILLISECONDS;
  const path = join(directory, `${name}.log`);
  while (!(await Bun.file(path).text()).includes(text)) {
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      throw new Error(`${name} is not ready; its log:\n${await Bun.file(path).text()}`);
    }
    await Bun.sleep(100);
  }
}

/** Ends all processes of the fleet and removes its directory. */
async function end(): Promise<void> {
  for (const child of running.toReversed()) {
    if (child.exitCode !== null) continue;
    child.kill("SIGTERM");
    const killed = setTimeout(() => child.kill("SIGKILL"), STOP_MILLISECONDS);
    await child.exited;
    clearTimeout(killed);
  }
  rmSync(directory, { recursive: true, force: true });
}

async function demonstrate(): Promise<void> {
  const broker = await natsServerProgram("scripts/start fleet");
  if (broker === null) throw new Error("nats-server cannot be fetched; install it, or try again with a network");
  const fleet = join(directory, "fleet");
  step("certificates and settings");
  const machines = ["--worker", ...WORKERS];
  await run("fleet", "init", "--directory", fleet, "--broker", "127.0.0.1", "--port", String(BROKER_PORT), ...machines);

  step("broker, server and workers");
  start("broker", [broker, "-c", "nats.conf", "-a", "127.0.0.1"], join(fleet, "broker"));
  const settings = (name: string) => [
    ...["--config", join(fleet, name, "fleet.toml"), "--data-dir", join(directory, `${name}-data`)],
  ];
  const server = start("server", [transcribe, "serve", "--port", String(SERVER_PORT), ...settings("coordinator")]);
  const workers = WORKERS.map((name) => [name, start(name, [transcribe, "worker", ...settings(name)])] as const);
  await until("server", server, "engine.ready");
  for (const [name, worker] of workers) await until(name, worker, "engine.ready");
  // Each worker reports every three seconds.
  await until("server", server, `"machine":"${WORKERS.at(-1)}"`);

  step(`a recording: ${recording}`);
  await run("quickstart", recording, ...settings("coordinator"));
  step("status");
  await run("fleet", "status", ...settings("coordinator"));
  step("done; everything that was started is stopped now");
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => void end().then(() => process.exit(130)));
}
try {
  await demonstrate();
} catch (error) {
  console.error(`fleet: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  await end();
}
