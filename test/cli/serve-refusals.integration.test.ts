import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { runCli } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { smallWhisper } from "../../harness/whisper/small-models.ts";
import { runHere } from "./run-here.ts";

setDefaultTimeout(60_000);

describe("a server that can't start", () => {
  const cases: [string, Record<string, string>, number, string][] = [
    ["a network that is none", { TRANSCRIBE_FETCH_ALLOW: "10.0.0.0/99" }, 2, "TRANSCRIBE_FETCH_ALLOW: 10.0.0.0/99"],
    [
      "a proxy that is none",
      { TRANSCRIBE_SERVER_TRUSTED_PROXIES: "nginx" },
      2,
      "TRANSCRIBE_SERVER_TRUSTED_PROXIES: nginx",
    ],
    [
      "a certificate without its key",
      { TRANSCRIBE_SERVER_TLS_CERTIFICATE: "/a.pem" },
      2,
      "TRANSCRIBE_SERVER_TLS_CERTIFICATE: set both server.tls_certificate and",
    ],
    [
      "a fence in no broker",
      { TRANSCRIBE_STANDBY_FENCE: "broker" },
      2,
      "TRANSCRIBE_STANDBY_FENCE: set fleet.broker, too",
    ],
    ["a fence that is no path", { TRANSCRIBE_STANDBY_FENCE: "fence" }, 2, "TRANSCRIBE_STANDBY_FENCE"],
    [
      "a missing certificate",
      { TRANSCRIBE_SERVER_TLS_CERTIFICATE: "/no/a.pem", TRANSCRIBE_SERVER_TLS_KEY: "/no/a.key" },
      1,
      "server.tls_certificate, server.tls_key: can't read /no/a.pem",
    ],
    [
      "a CPU variant that this build lacks",
      { TRANSCRIBE_ENGINE_CPU_VARIANT: "haswel" },
      1,
      'engine.cpu_variant is "haswel", but this build has no such CPU variant. Available here, fastest first: ',
    ],
    [
      "a missing model",
      { TRANSCRIBE_ENGINE_WHISPER_MODEL: "/no/such.bin" },
      1,
      "engine.whisper_model: no model /no/such.bin is installed and no file has this path",
    ],
    [
      "a model that is not installed",
      { TRANSCRIBE_ENGINE_WHISPER_MODEL: "whisper-small" },
      1,
      "engine.whisper_model: no model whisper-small is installed",
    ],
    [
      "a file that is not a model",
      { TRANSCRIBE_ENGINE_WHISPER_MODEL: "/etc/passwd" },
      1,
      "engine.whisper_model: /etc/passwd is not a whisper model in ggml form",
    ],
  ];
  test.each(cases)("reports %s without a stack, and exits", async (_what, environment, exitCode, message) => {
    using directory = temporaryDirectory();
    // A server that begins to start leaves parts of it behind in its process.
    const run = exitCode === 2 ? runHere : runCli;
    const result = await run(["serve", "--port", "0", "--data-dir", directory.path], environment);
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toStartWith(`transcribe: ${message}`);
    expect(result.stderr).not.toMatch(/^\s+at |\.ts/m);
  });

  test.each([
    ["a fleet's worker", ["worker", "--fleet", "nats://127.0.0.1:1"]],
    ["a transcription without a server", ["run", join(root, "package.json")]],
  ])("%s refuses the same CPU variant", async (_what, args) => {
    using directory = temporaryDirectory();
    const environment = { TRANSCRIBE_ENGINE_CPU_VARIANT: "haswel", XDG_CACHE_HOME: directory.path };
    const { exitCode, stderr } = await runCli([...args, "--data-dir", directory.path], environment);
    expect(exitCode).toBe(1);
    expect(stderr).toStartWith('transcribe: engine.cpu_variant is "haswel", but this build has no such CPU variant.');
  });

  test("reports the fault of a model with a damaged tensor table once, and exits", async () => {
    using directory = temporaryDirectory();
    const model = join(directory.path, "damaged.bin");
    const { bytes } = smallWhisper();
    writeFileSync(model, bytes.subarray(0, -1));
    const settings = { TRANSCRIBE_ENGINE_WHISPER_MODEL: model };
    const { exitCode, stderr } = await runCli(["serve", "--port", "0", "--data-dir", directory.path], settings);
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^transcribe: engine\.whisper_model: .*\/damaged\.bin is damaged or not a whisper model[^\n]+\n$/,
      ),
    ]);
  });

  test("reports a port that another program uses, and exits with its worker", async () => {
    using directory = temporaryDirectory();
    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
    try {
      const args = ["serve", "--port", String(other.port), "--data-dir", directory.path, "--log-level", "silent"];
      const result = await runCli(args, {});
      expect(result.exitCode).toBe(1);
      expect(result.stderr).toStartWith(`transcribe: can't listen on 127.0.0.1, port ${other.port}`);
    } finally {
      await other.stop(true);
    }
  }, 180_000);
});
