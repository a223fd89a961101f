import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { lines } from "../../harness/server.ts";
import { defaultCacheRoot, nativeDirectory, repository } from "../../native/build.ts";
import { progressLines } from "../../native/steps/cmake.ts";
import { inCache } from "../../native/steps/in-cache.ts";
import { patchFiles, prepareSource } from "../../native/steps/source.ts";
import { targetsOf } from "../../native/steps/target.ts";
import { findTools, runTool } from "../../native/steps/tools.ts";

/**
 * Maximum silence of the process. A valid model takes seconds under AddressSanitizer, so a silent process is stuck,
 * which counts as a crash.
 */
const SILENCE_MS = 120_000;

/** Loads model files in a process of load-models.cpp; starts a new process after each crash. */
export class Loader {
  readonly #program: string;
  #process: ReturnType<typeof startLoader> | null = null;

  constructor(program: string) {
    this.#program = program;
  }

  /** @returns the result for a file, and the error output of a crashed process */
  async load(kind: string, path: string): Promise<{ answer: "loaded" | "refused" | "crashed"; errors: string }> {
    this.#process ??= startLoader(this.#program);
    const { child, answers, errors } = this.#process;
    const silence = setTimeout(() => child.kill("SIGABRT"), SILENCE_MS);
    child.stdin.write(`${kind} ${path}\n`);
    await child.stdin.flush();
    const { value } = await answers.next();
    clearTimeout(silence);
    if (value === "loaded" || value === "refused") return { answer: value, errors: "" };
    this.#process = null;
    return { answer: "crashed", errors: await errors };
  }

  end(): void {
    this.#process?.child.kill();
    this.#process = null;
  }
}

function startLoader(program: string) {
  const child = Bun.spawn([program], {
    ...{ stdin: "pipe", stdout: "pipe", stderr: "pipe" },
    // An allocation with a size from a header must not go unnoticed.
    env: { ...process.env, ASAN_OPTIONS: "detect_leaks=1:max_allocation_size_mb=2048:allocator_may_return_null=0" },
  });
  return { child, answers: lines(child.stdout), errors: child.stderr.text() };
}

const program = "load-models";
/** Folder of the sources that patched code of whisper.cpp calls. */
const nativeSource = join(nativeDirectory, "src");

/** Builds the model loader with AddressSanitizer, unless the cache has it. @returns the program's path */
export async function buildLoader(log: (line: string) => void): Promise<string> {
  const [target] = targetsOf(process.arch);
  if (target === undefined) throw new Error(`the loader cannot be compiled on ${process.arch}`);
  const tools = await findTools(target);
  const hash = createHash("sha256").update(tools.compilerVersion);
  const own = ["CMakeLists.txt", `${program}.cpp`].map((name) => join(import.meta.dir, name));
  const native = [...new Bun.Glob("{kernels,models,decoder,device}/**/*").scanSync(nativeSource)].sort();
  const called = native.map((name) => join(nativeSource, name));
  for (const file of [...own, ...called, ...(await patchFiles(nativeDirectory))]) hash.update(await readFile(file));
  const key = hash.digest("hex").slice(0, 16);
  const directory = await inCache(join(defaultCacheRoot(), "fuzz", key), log, async (work) => {
    const source = await prepareSource({ repository, nativeDirectory, into: join(work, "source") });
    const out = join(work, "out");
    const generator = tools.ninja === undefined ? [] : ["-G", "Ninja"];
    const sources = [`-DWHISPER_SOURCE=${source}`, `-DNATIVE_SOURCE=${nativeSource}`];
    await runTool([tools.cmake, "-S", import.meta.dir, "-B", out, ...generator, ...sources], () => {});
    log("fuzz: compiling the loader, two minutes");
    const parallel = String(availableParallelism());
    await runTool([tools.cmake, "--build", out, "--target", program, "--parallel", parallel], progressLines(log));
    const made = join(work, "made");
    await mkdir(made);
    await Bun.write(join(made, program), Bun.file(join(out, program)));
    await runTool(["chmod", "755", join(made, program)], () => {});
    return made;
  });
  return join(directory, program);
}
