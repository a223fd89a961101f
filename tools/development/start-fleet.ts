// scripts/start fleet: a whole fleet on this machine for a minute: broker, coordinator, two workers, a sample recording.
import { join, resolve } from "node:path";
import { LocalFleet } from "../../harness/local-fleet.ts";
import { natsServerProgram } from "../../harness/nats-server.ts";
import { programCommand } from "../../harness/program.ts";
import { environmentWith } from "../../harness/server.ts";
import { messageOf } from "../../src/text/index.ts";
import { root } from "../shared/checkout.ts";
import { beforeStop } from "../shared/processes.ts";

const WORKERS = ["worker-1", "worker-2"];

const recording = resolve(process.argv[2] ?? join(root, "build/samples/sample.wav"));

function step(text: string): void {
  console.error(`\nfleet: ${text}`);
}

/** Runs a command on the coordinator's data directory, with its output on the terminal. @throws {Error} if it fails */
async function run({ server, environment }: LocalFleet, ...args: readonly string[]): Promise<void> {
  const command = programCommand(...args, "--data-dir", server.dataDirectory);
  const child = Bun.spawn(command, { env: environmentWith(environment), stdio: ["ignore", "inherit", "inherit"] });
  if ((await child.exited) !== 0) throw new Error(`transcribe ${args[0]} failed`);
}

async function demonstrate(): Promise<void> {
  const program = await natsServerProgram("scripts/start fleet");
  if (program === null) throw new Error("nats-server cannot be fetched; install it, or try again with a network");
  await using fleet = new LocalFleet({ program, workers: WORKERS });
  using _ = beforeStop(() => fleet[Symbol.asyncDispose]());
  step("certificates and settings; broker, server and workers");
  // The server leaves all parts to the workers, so that a short recording shows them at work.
  await fleet.join(false);
  step(`a recording: ${recording}`);
  await run(fleet, "quickstart", recording);
  step("status");
  await run(fleet, "fleet", "status");
  step("done; everything that was started is stopped now");
}

try {
  await demonstrate();
} catch (error) {
  console.error(`fleet: ${messageOf(error)}`);
  process.exitCode = 1;
}
