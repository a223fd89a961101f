import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { waveHeader } from "../../harness/media.ts";
import { resultOf } from "../../harness/processes.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { BadNetwork } from "../support/bad-network.ts";
import { ApiServer } from "../support/http.ts";
import { installPythonSdk, installTypescriptSdk, type SdkRuntime, writeScript } from "../support/sdk.ts";
import { type Stage, scenarios, silent } from "./scenario-table.ts";

/** Installing, on a machine that also runs a build. */
setDefaultTimeout(180_000);

const jfk = samplePath("jfk.mp3");
const LARGE_BYTES = 256 * 1024 * 1024;

const outcomesSchema = Type.Array(
  Type.Object({
    outcome: Type.Optional(Type.Unknown()),
    failure: Type.Optional(Type.String()),
    seconds: Type.Number(),
  }),
);

const folder = temporaryDirectory();
const ready = available("tests of the client packages", jfk, ffmpegPath);
const runtimes: readonly SdkRuntime[] = ready
  ? [...(await installTypescriptSdk(folder.path)), ...(await installPythonSdk(folder.path))]
  : [];
const large = join(folder.path, "large.wav");
if (ready) writeLargeRecording(large);

/** A client and the server that it calls. The clients play at the same time, because most scenarios wait. */
class Play implements AsyncDisposable {
  readonly server = new ApiServer({ recordingsPerAccount: 200, uploadBytes: 2 * LARGE_BYTES });
  readonly stages: Stage[] = [];
  readonly outcomes: (typeof outcomesSchema)["static"] = [];

  async run(runtime: SdkRuntime): Promise<void> {
    const { server, stages, outcomes } = this;
    for (const [index, [, name, { prepare, fates = [] }]] of scenarios.entries()) {
      const network = new BadNetwork(() => server.origin);
      network.fates.push(...fates);
      const account = `caller-${index}`;
      const caller = Object.assign(server.client(account), { account });
      const directory = join(folder.path, `${runtime.name}-${index}`);
      mkdirSync(directory);
      const told = { name, base_url: await network.listen(), key: caller.key, recording: jfk, directory, id: account };
      const stage = { server, network, caller, large, told };
      prepare?.(stage);
      stages.push(stage);
    }
    const file = runtime.language === "ts" ? "scenarios.mts" : "scenarios.py";
    const text = readFileSync(join(import.meta.dir, file), "utf8");
    const script = writeScript(runtime, folder.path, "scenarios", text);
    const isLarge = ({ told }: Stage) => told.name === "large";
    // Memory is measured in a process of its own.
    const [alone = [], others = []] = await Promise.all(
      [true, false].map((wanted) =>
        playStages(
          runtime,
          script,
          stages.filter((stage) => isLarge(stage) === wanted),
        ),
      ),
    );
    for (const stage of stages) outcomes.push(...(isLarge(stage) ? alone : others).splice(0, 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { network } of this.stages) await network[Symbol.asyncDispose]();
    this.server[Symbol.dispose]();
  }
}

const plays = runtimes.map((runtime) => ({ runtime, play: new Play() }));
beforeAll(async () => {
  await Promise.all(plays.map(({ runtime, play }) => play.run(runtime)));
});

describe.each(plays.map((each) => [each.runtime.name, each.play] as const))("the client in %s", (_, play) => {
  afterAll(() => play[Symbol.asyncDispose]());

  test.each(scenarios.map(([promise, , scenario], index) => [promise, scenario, index] as const))(
    "promises: %s",
    async (_promise, { outcome: promised, check }, index) => {
      const { outcome, failure, seconds = 0 } = play.outcomes[index] ?? {};
      expect(failure).toBeUndefined();
      if (promised !== undefined) expect(outcome).toEqual(promised);
      const stage = play.stages[index];
      if (stage !== undefined) await check?.(stage, Object(outcome), seconds);
    },
  );
});

afterAll(() => {
  silent.stop(true);
  folder[Symbol.dispose]();
});

/** Runs a script with stages. @returns their outcomes, in the same order */
async function playStages({ program, environment }: SdkRuntime, script: string, stages: readonly Stage[]) {
  const child = Bun.spawn([program, script], {
    env: { PATH: process.env.PATH, ...environment },
    stdin: Buffer.from(JSON.stringify(stages.map(({ told }) => told))),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { exitCode, stdout, stderr } = await resultOf(child);
  expect([exitCode, stderr]).toEqual([0, ""]);
  return Value.Parse(outcomesSchema, JSON.parse(stdout));
}

/** Writes a WAV file with silence as a sparse file. */
function writeLargeRecording(path: string): void {
  const head = waveHeader({ channels: 2, rateHz: 48_000, claimedBytes: LARGE_BYTES });
  writeFileSync(path, head);
  truncateSync(path, head.length + LARGE_BYTES);
}
