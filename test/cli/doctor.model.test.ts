import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { root } from "../../harness/checkout.ts";
import { runCli, startTimeout, TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { checks } from "../../src/diagnostics/index.ts";
import { tinyRecognizer } from "../support/tiny-recognizer.ts";
import { canTranscribe } from "../support/whisper.ts";
import { maybe, shape } from "./support.ts";

const text = Type.String({ minLength: 1 });
const reportShape = shape({
  version: text,
  checks: Type.Array(
    shape({
      id: text,
      title: text,
      status: Type.Union(["ok", "warning", "problem", "skipped"].map((status) => Type.Literal(status))),
      summary: text,
      detail: Type.Array(text),
      advice: maybe(text),
      fixable: Type.Boolean(),
      mended: Type.Union([shape({ what: text, failure: maybe(text) }), Type.Null()]),
    }),
  ),
});

function reportOf(stdout: string): Static<typeof reportShape>["checks"] {
  const printed: unknown = JSON.parse(stdout);
  const [fault] = Value.Errors(reportShape, printed);
  if (fault !== undefined) throw new Error(`${fault.path}: ${fault.message}, in ${stdout}`);
  return Value.Decode(reportShape, printed).checks;
}

const canRun = canTranscribe("the doctor");

describe.skipIf(!canRun)("transcribe doctor", () => {
  test("finds no problem before the first start, and creates nothing", async () => {
    using directory = temporaryDirectory();
    const data = join(directory.path, "data");
    const { exitCode, stdout, stderr } = await runCli(["doctor", "--data-dir", data, "--port", "0", "--json"]);
    const report = reportOf(stdout);
    expect(report.map(({ id }) => id)).toEqual(checks.map(({ id }) => id));
    expect([exitCode, stderr, report.filter(({ status }) => status === "problem")]).toEqual([0, "", []]);
    const tried = report.filter(({ id }) =>
      ["cpu.variant", "cpu.kernels", "engine.onnx", "ffmpeg.decode", "model.whisper"].includes(id),
    );
    expect(tried.map(({ status }) => status)).not.toContain("skipped");
    expect(readdirSync(directory.path)).toEqual([]);
  }, 180_000);

  test("continues with invalid settings, reports the wrong line, and makes repairs", async () => {
    using directory = temporaryDirectory();
    const [data, config] = [join(directory.path, "data"), join(directory.path, "wrong.toml")];
    writeFileSync(config, "[engine]\nthread = 4\n");
    expect((await runCli(["accounts", "create", "acme", "--data-dir", data])).exitCode).toBe(0);
    writeFileSync(join(data, "state", "devices.json"), "damaged");
    const { exitCode, stdout, stderr } = await runCli(
      ["doctor", "--config", config, "--data-dir", data, "--fix"],
      tinyRecognizer(),
    );
    expect([exitCode, stderr]).toEqual([1, ""]);
    expect(stdout).toMatch(/\nPROBLEM .+\[settings\.valid\]\n.+wrong\.toml:2.+engine\.thread/);
    expect(stdout).toMatch(/\n {2}done {4}Remove the damaged .+ \(cpu\.verdicts\)\n/);
    expect(existsSync(join(data, "state", "devices.json"))).toBe(false);
    expect(stdout).not.toContain("\u001b");
  }, 180_000);

  test("names the kernels of the only CPU variant that the setting allows", async () => {
    using directory = temporaryDirectory();
    const doctor = async (variant: string, model = {}) => {
      const args = ["doctor", "--data-dir", directory.path, "--port", "0", "--json"];
      const { exitCode, stdout } = await runCli(args, { TRANSCRIBE_ENGINE_CPU_VARIANT: variant, ...model });
      const report = reportOf(stdout);
      const of = (id: string) => report.find((check) => check.id === id);
      return { exitCode, variant: of("cpu.variant"), kernels: of("cpu.kernels") };
    };
    // The fastest one below the usual: without vectors, the self-test takes three quarters of a minute.
    const hasAvx2 = /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
    const variant = hasAvx2 ? "haswell" : "sse42";
    const kernels = hasAvx2 ? /^AVX2; encoder: .+ decoder: 8-bit kernels/ : /^ggml's; encoder: .+ decoder: ggml's/;
    const limited = await doctor(variant);
    expect(limited.variant).toMatchObject({
      status: "ok",
      summary: expect.stringContaining(`${variant} by engine.cpu_variant`),
    });
    expect(limited.kernels).toMatchObject({ status: "ok", summary: expect.stringMatching(kernels) });
    const missing = await doctor("haswel", tinyRecognizer());
    expect(missing.exitCode).toBe(1);
    expect(missing.variant).toMatchObject({ status: "problem", advice: expect.stringContaining("x64") });
    expect(missing.kernels?.status).toBe("skipped");
  }, 180_000);

  test("refuses unknown options", async () => {
    expect((await runCli(["doctor", "--mend"])).exitCode).toBe(2);
  });

  test("ends its child processes when it is interrupted", async () => {
    using directory = temporaryDirectory();
    const child = Bun.spawn(
      [
        process.execPath,
        "--no-env-file",
        join(root, "src/main.ts"),
        "doctor",
        "--data-dir",
        join(directory.path, "data"),
      ],
      { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    );
    let tests: number[] = [];
    while (tests.length === 0 && child.exitCode === null) {
      tests = childrenOf(child.pid).filter((pid) => commandOf(pid).includes("__selftest"));
      await Bun.sleep(10);
    }
    expect(tests).not.toEqual([]);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    for (const pid of tests) expect(commandOf(pid)).not.toContain("__selftest");
    expect(await new Response(child.stderr).text()).not.toMatch(/\n\s+at /);
  }, 180_000);
});

describe.skipIf(!canRun)("with a running server, transcribe doctor", () => {
  // The self-test of the CPU variant takes seconds with a Whisper model of any size.
  const server = new TestServer(tinyRecognizer());
  beforeAll(() => server.start(), startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test("reports it as ready on its port, and checks its database meanwhile", async () => {
    const port = new URL(server.origin).port;
    await server.untilReady();
    const { stdout } = await server.cli("doctor", "--port", port, "--json");
    const found = new Map(reportOf(stdout).map(({ id, status, summary }) => [id, `${status}: ${summary}`]));
    expect(found.get("server.running")).toBe(
      `ok: ${server.origin} is ready to accept recordings (process ${server.pid})`,
    );
    expect(found.get("server.live")).toMatch(/^ok: [1-9]\d* at once, as the server measured$/);
    expect(found.get("server.port")).toBe(`ok: 127.0.0.1, port ${port}: used by this server`);
    expect(found.get("database.integrity")).toMatch(/^ok: .+ intact$/);
    expect(found.get("cpu.verdicts")).toBe("ok: cached for the next start");
    expect(found.get("data.leftovers")).toMatch(/^skipped: /);
  }, 180_000);
});

function childrenOf(pid: number): number[] {
  return readdirSync("/proc").flatMap((name) => {
    const parent = /^\d+$/.test(name) ? / \S (\d+) /.exec(textOf(`/proc/${name}/stat`).replace(/^.*\)/, ""))?.[1] : "";
    return Number(parent) === pid ? [Number(name)] : [];
  });
}

const commandOf = (pid: number) => textOf(`/proc/${pid}/cmdline`);

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
