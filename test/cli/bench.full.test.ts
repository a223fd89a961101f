import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { canTranscribe } from "../support/whisper.ts";
import { faultsOf } from "./benchmark-shape.ts";

test.skipIf(!canTranscribe("the benchmark of the built-in model"))(
  "transcribe bench measures every step with the built-in models, and leaves no files",
  async () => {
    using directory = temporaryDirectory();
    const { exitCode, stdout, stderr } = await runCli(
      ["bench", "--seconds", "1", "--json", "--data-dir", join(directory.path, "data")],
      { TRANSCRIBE_ENGINE_THREADS: "1", TMPDIR: directory.path },
    );
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(faultsOf(stdout)).toEqual([]);
    expect(JSON.parse(stdout).model).toBe("whisper-base");
    expect(readdirSync(directory.path)).toEqual([]);
  },
  600_000,
);
