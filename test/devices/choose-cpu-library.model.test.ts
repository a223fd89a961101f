import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { available } from "../../harness/checkout.ts";
import { programCommand } from "../../harness/program.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { type CpuTestOptions, chooseCpuLibrary, leaveOutCpuLibrary } from "../../src/devices/cpu-libraries.ts";
import { basePath, canTranscribe, nativeDirectory } from "../support/whisper.ts";

const selfTest = programCommand("__selftest");

/** ggml's loader calls the first function and then the second. */
const dyingAtWork =
  "int ggml_backend_score(void) { return 100000; } void *ggml_backend_init(void) { __builtin_trap(); }";
const dyingAtScore = "int ggml_backend_score(void) { __builtin_trap(); }";
const notForThisCpu = "int ggml_backend_score(void) { return 0; }";

let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

/** Returns options with the real libraries, those compiled from the sources, and a file for verdicts. */
async function directoryWith(fakes: Record<string, string>): Promise<CpuTestOptions> {
  const { path } = directory;
  const native = join(path, "native");
  await mkdir(native);
  for (const name of readdirSync(nativeDirectory)) {
    symlinkSync(join(nativeDirectory, name), join(native, name));
  }
  for (const [name, source] of Object.entries(fakes)) {
    const file = join(path, `${name}.c`);
    writeFileSync(file, source);
    const library = join(native, `libggml-cpu-${name}.so`);
    const compiled = Bun.spawnSync(["cc", "-shared", "-fPIC", "-o", library, file]);
    expect(compiled.exitCode).toBe(0);
  }
  return {
    command: selfTest,
    nativeDirectory: native,
    speechModel: basePath,
    verdictsPath: join(path, "state", "verdicts.json"),
  };
}

const canRun = canTranscribe("choosing a CPU variant") && available("choosing a CPU variant", Bun.which("cc") ?? "cc");

describe.skipIf(!canRun)("the choice of a CPU variant", () => {
  test("takes the best one that works and leaves out those that crash with an illegal instruction", async () => {
    const fakes = { dyingatwork: dyingAtWork, dyingatscore: dyingAtScore, notforthiscpu: notForThisCpu };
    const options = await directoryWith(fakes);
    const choice = await chooseCpuLibrary(options);
    expect(choice.cpuLibrary).toMatch(/^libggml-cpu-/);
    expect(Object.keys(fakes).map((name) => `libggml-cpu-${name}.so`)).not.toContain(choice.cpuLibrary);
    expect(choice.leftOut.map(({ library }) => library).sort()).toEqual([
      "libggml-cpu-dyingatscore.so",
      "libggml-cpu-dyingatwork.so",
    ]);
    expect(choice.leftOut[0]?.reason).toMatch(/SIGILL|SIGTRAP/);

    // Later choices use the stored verdict and start no process.
    const again = await chooseCpuLibrary({ ...options, command: ["/nowhere"] });
    expect(again.cpuLibrary).toBe(choice.cpuLibrary);
    expect(again.leftOut).toEqual(choice.leftOut);

    // A variant that crashes later is replaced by the next one.
    await leaveOutCpuLibrary(options, choice.cpuLibrary, "it crashed with SIGILL at work");
    const next = await chooseCpuLibrary(options);
    expect(next.cpuLibrary).not.toBe(choice.cpuLibrary);
    expect(next.leftOut).toContainEqual({
      library: choice.cpuLibrary,
      reason: "it crashed with SIGILL at work",
    });
  }, 60_000);

  test("leaves out one that ran out of memory or time, but stores no verdict on it", async () => {
    const options = await directoryWith({});
    const works = `case "$1" in *rateCpuLibrary*) echo "{\\"score\\":5}";; *x64*) echo "{\\"seconds\\":1,\\"instructions\\":\\"none\\"}";; *) kill -KILL $$;; esac`;
    const choice = await chooseCpuLibrary({ ...options, command: ["sh", "-c", works, "self-test"] });
    expect(choice.cpuLibrary).toBe("libggml-cpu-x64.so");
    expect(choice.leftOut[0]?.reason).toContain("memory was short");
    expect(await Bun.file(options.verdictsPath).text()).not.toContain("memory was short");
  });

  test("ignores verdicts of another CPU and a damaged file", async () => {
    const works = `case "$1" in *rateCpuLibrary*) echo '{"score":5}';; *) echo '{"seconds":1,"instructions":"none"}';; esac`;
    const options = { ...(await directoryWith({})), command: ["sh", "-c", works, "self-test"] };
    const choice = await chooseCpuLibrary(options);
    const failing = chooseCpuLibrary({ ...options, cpu: "another", command: ["false"] });
    await expect(failing).rejects.toThrow("no CPU backend");
    writeFileSync(options.verdictsPath, "{");
    expect(await chooseCpuLibrary(options)).toEqual(choice);
  });
});
