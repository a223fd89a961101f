import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { available, samplePath } from "../../harness/checkout.ts";
import type { TestClient } from "../../harness/client.ts";
import { tally } from "../../harness/load-clients.ts";
import { type LogLine, TestServer } from "../../harness/server.ts";
import { defaultCacheRoot } from "../../native/build.ts";
import { withTemporaryFolder } from "../../src/files/index.ts";
import { scopes } from "../../src/keys/index.ts";
import { installPythonPackages, type PythonPackages, pythonEnvironment } from "../shared/python.ts";
import { CommandError } from "../shared/run-command.ts";

export type ConformanceOutcome = "passed" | "failed" | "skipped";

export const SCHEMATHESIS: PythonPackages = {
  name: "schemathesis",
  packages: ["schemathesis"],
  constraints: join(import.meta.dir, "constraints.txt"),
  timeoutMilliseconds: 120_000,
};

/** Time limit of a run: many times its duration on a slow, busy machine. */
const timeoutMilliseconds = 600_000;

/** Disables limits, which have tests of their own and would answer 429 to nearly every request. */
const settings = {
  TRANSCRIBE_LIMITS_REQUESTS_PER_MINUTE: "1000000",
  TRANSCRIBE_LIMITS_FAILED_AUTHENTICATIONS_PER_MINUTE: "1000000",
  TRANSCRIBE_LIMITS_CREATES_PER_HOUR: "1000000",
  TRANSCRIBE_LIMITS_CREATES_PER_DAY: "1000000",
  TRANSCRIBE_LIMITS_RECORDINGS_PER_ACCOUNT: "100000",
  TRANSCRIBE_COMPAT_ASR: "true",
  // Links point to a closed port of this machine.
  TRANSCRIBE_FETCH_ALLOW: "127.0.0.1",
};

const pathsOutsideTheApi = "^/(healthz|readyz|openapi.json|docs)$";

/**
 * Starts the real server with one completed recording and runs Schemathesis against it.
 * @returns "skipped" and logs the reason when Schemathesis or the sample is unavailable
 */
export async function checkConformance(options: readonly string[]): Promise<ConformanceOutcome> {
  if (!available("conformance with Schemathesis", samplePath("jfk.mp3"))) return "skipped";
  const packages = await installPythonPackages(defaultCacheRoot(), SCHEMATHESIS).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: conformance; Schemathesis cannot be installed: ${error.message}`);
  });
  if (packages === undefined) return "skipped";

  await using server = new TestServer(settings);
  await server.start();
  const client = server.client("conformance", undefined, scopes);
  const environment = { ...(await prepare(server, client)), ...pythonEnvironment(packages) };
  const document = `${server.origin}/openapi.json`;
  const keyOf = (caller: TestClient) => ["--header", `Authorization: Bearer ${caller.key}`];
  // The runs at the same time have accounts of their own, so that none lists another's recordings.
  const asrKey = keyOf(server.client("conformance-asr"));
  const root = ["--url", server.origin];
  const runs = [
    [document, ...keyOf(client), "--exclude-path-regex", pathsOutsideTheApi, ...options],
    // Operations without links between them, which the stateful phase reports as an error.
    [join(import.meta.dir, "asr.yaml"), ...asrKey, ...root, ...options, "--phases", "examples,coverage,fuzzing"],
    // Operations without parameters either, so there is little to generate.
    [document, ...root, "--include-path-regex", pathsOutsideTheApi, ...options, "--phases", "examples,coverage"],
  ];
  // Most of the time they wait for the server.
  const reports = await Promise.all(runs.map((run) => runSchemathesis(run, environment)));
  for (const { output } of reports) console.log(output);
  const failed = reports.some(({ exitCode }) => exitCode !== 0);
  console.log(answersOf(server.log));
  const unexpected = server.log.filter(({ event }) => event === "http.unexpected_error");
  for (const line of unexpected) console.error(JSON.stringify(line));
  return failed || unexpected.length > 0 ? "failed" : "passed";
}

const requestSchema = Type.Object({
  event: Type.Literal("http.request"),
  method: Type.String(),
  path: Type.String(),
  status: Type.Integer(),
});

/** Returns how often each operation returned each status, which shows what the run has reached. */
function answersOf(log: readonly LogLine[]): string {
  const requests = log.filter((line) => Value.Check(requestSchema, line));
  const operations = Map.groupBy(requests, ({ method, path }) => {
    return `${method} ${path.replace(/(\/transcriptions\/)[^/]+/, "$1{id}")}`;
  });
  return [...operations]
    .map(([name, answers]) => [name, answers.map(({ status }) => status)] as const)
    .filter(([, statuses]) => statuses.some((status) => status !== 404 && status !== 405))
    .map(([name, statuses]) => `${name}: ${tally(statuses)}`)
    .sort()
    .join("\n");
}

const pageSchema = Type.Object({ next_cursor: Type.String() });

/** Creates two recordings, one of them completed and on hold, and returns the variables of hooks.py. */
async function prepare(server: TestServer, client: TestClient): Promise<Record<string, string>> {
  const { ended } = await client.transcribe(samplePath("jfk.mp3"), { language: "en" });
  if (ended.status !== "completed") throw new Error(`the sample did not complete: ${JSON.stringify(ended)}`);
  await server.cli("recordings", "hold", ended.id);
  const second = new FormData();
  second.set("url", "http://127.0.0.1:9/second.mp3");
  await client.fetch("/transcriptions", { method: "POST", body: second });
  const cursorOf = async (path: string) => {
    const page: unknown = await (await client.fetch(`${path}?limit=1`)).json();
    return Value.Check(pageSchema, page) ? page.next_cursor : "";
  };
  return {
    CONFORMANCE_RECORDING: ended.id,
    CONFORMANCE_LIST_CURSOR: await cursorOf("/transcriptions"),
    CONFORMANCE_SEGMENT_CURSOR: await cursorOf(`/transcriptions/${ended.id}/segments`),
  };
}

async function runSchemathesis(args: readonly string[], environment: Record<string, string>) {
  return withTemporaryFolder(defaultCacheRoot(), async (directory) => {
    const config = join(import.meta.dir, "schemathesis.toml");
    const child = Bun.spawn(
      [
        ...["python3", "-m", "schemathesis.cli", "--config-file", config, "run", ...args],
        ...["--checks", "all", "--continue-on-failure", "--no-color"],
      ],
      {
        // Schemathesis writes files into its current directory.
        cwd: directory,
        env: {
          ...process.env,
          ...environment,
          SCHEMATHESIS_HOOKS: join(import.meta.dir, "hooks.py"),
          CONFORMANCE_STORAGE: join(defaultCacheRoot(), "hypothesis"),
        },
        stdio: ["ignore", "pipe", "inherit"],
        timeout: timeoutMilliseconds,
        killSignal: "SIGKILL",
      },
    );
    const output = await child.stdout.text();
    return { exitCode: await child.exited, output };
  });
}
