import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { makeWithFfmpeg } from "../../harness/media.ts";
import { resultOf } from "../../harness/processes.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { errorRate, wordErrors } from "../../harness/wer.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { testPackages } from "../../tools/development/test-packages.ts";
import { installPythonPackages } from "../../tools/shared/python.ts";
import { CommandError } from "../../tools/shared/run-command.ts";
import { installPythonSdk, installTypescriptSdk, type SdkRuntime, writeScript } from "../support/sdk.ts";
import { blocksOf, pageNamed } from "./pages.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("examples of live sessions", jfk, ffmpegPath);
const folder = temporaryDirectory();
afterAll(() => folder[Symbol.dispose]());
const sound = join(folder.path, "sound");

const WORDS =
  "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";

/** Lines before an example, which give it a client and a microphone. */
const beginnings = {
  ts: `import { readFileSync } from "node:fs";
import { Client } from "transcribe-sdk";
const client = new Client({ baseUrl: process.env.API, key: process.env.KEY });
const microphone = (async function* () {
  const bytes = readFileSync(process.env.SOUND);
  for (let at = 0; at < bytes.length; at += 3200) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    yield new Uint8Array(bytes.subarray(at, at + 3200));
  }
})();
`,
  python: `import os, time
from transcribe_sdk import Client
client = Client(os.environ["API"], os.environ["KEY"])
def pieces():
    with open(os.environ["SOUND"], "rb") as file:
        while piece := file.read(3200):
            time.sleep(0.05)
            yield piece
microphone = pieces()
`,
};

async function pythonRuntime(): Promise<SdkRuntime[]> {
  const [python] = await installPythonSdk(folder.path);
  if (python === undefined) return [];
  try {
    const packages = await installPythonPackages(defaultCacheRoot(), testPackages.websockets);
    return [
      { ...python, environment: { ...python.environment, PYTHONPATH: `${python.environment.PYTHONPATH}:${packages}` } },
    ];
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: the example of live sessions in Python; websockets cannot be installed: ${error.message}`);
    return [];
  }
}

const runtimes = ready
  ? [...(await installTypescriptSdk(folder.path)).filter(({ name }) => name === "Bun"), ...(await pythonRuntime())]
  : [];

describe.if(ready)("the example of live sessions", () => {
  const server = new TestServer();
  beforeAll(async () => {
    makeWithFfmpeg("-i", jfk, "-ac", "1", "-ar", "16000", "-f", "s16le", sound);
    await server.start();
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(runtimes.map((runtime) => [runtime.name, runtime] as const))(
    "of the client package prints words in %s, and the id of a recording with them",
    async (name, runtime) => {
      const page = pageNamed(`sdk/${runtime.language === "ts" ? "typescript" : "python"}/README.md`);
      const [example] = blocksOf(page).filter(({ run }) => run);
      const script = writeScript(runtime, folder.path, "example", beginnings[runtime.language] + example?.text);
      const client = server.client(name);
      const { key, baseUrl } = client;
      const child = Bun.spawn([runtime.program, script], {
        env: { PATH: process.env.PATH, API: baseUrl, KEY: key, SOUND: sound, ...runtime.environment },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const { exitCode, stdout, stderr } = await resultOf(child);
      expect([exitCode, stderr]).toEqual([0, ""]);
      const lines = stdout.trimEnd().split("\n");
      const words = lines.flatMap((line) => /^\d+(?:\.\d+)? (.+)$/.exec(line)?.[1] ?? []).join(" ");
      expect(errorRate([wordErrors(WORDS, words)])).toBeLessThan(0.4);
      const [, id = ""] = /^recording (.+)$/.exec(lines.at(-1) ?? "") ?? [];
      expect((await client.fetch(`/transcriptions/${id}`)).status).toBe(200);
    },
    180_000,
  );
});
