import { Database } from "bun:sqlite";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { createAccount, createKey } from "../../src/accounts/index.ts";
import { DataDirectory, openDatabaseOf } from "../../src/storage/index.ts";
import { root } from "./checkout.ts";
import { TestClient } from "./client.ts";
import { programCommand, programSettings } from "./program.ts";
import { temporaryDirectory } from "./temporary-directory.ts";
import { dyingWithParent } from "./with-parent.ts";

/** Time for a server to listen and load its models; a machine that builds beside the tests is slow. */
export const startTimeout = 120_000;

/** Limits that tests which are not about them would run into: they poll often and create much. */
const outOfTheWay = {
  TRANSCRIBE_LIMITS_REQUESTS_PER_MINUTE: "1000000",
  TRANSCRIBE_LIMITS_CREATES_PER_HOUR: "100000",
  TRANSCRIBE_LIMITS_CREATES_PER_DAY: "100000",
};

const lineSchema = Type.Object({ event: Type.String() }, { additionalProperties: true });

/** One line of the server's log. */
export interface LogLine extends Record<string, unknown> {
  readonly event: string;
}

export interface CliResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The real server, started as its users start it, on a data directory of its own that survives its processes: it can be
 * killed and started again. Dispose of it, and process and directory are gone.
 */
export class TestServer implements AsyncDisposable {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #log: LogLine[] = [];
  #child: Subprocess<"ignore", "pipe", "pipe"> | null = null;
  #collected: Promise<void> = Promise.resolve();
  #origin = "";
  #directory: ReturnType<typeof temporaryDirectory> | null = null;

  /** What the first of this process found out of the machine's CPU, by itself; it takes seconds. */
  static #verdicts: Buffer | null = null;

  /** Those of this process that have been started and not ended. */
  static readonly running = new Set<TestServer>();

  /** @param environment settings, e.g. `TRANSCRIBE_LIMITS_UPLOAD_BYTES` */
  constructor(environment: Readonly<Record<string, string>> = {}) {
    this.#environment = { TRANSCRIBE_LOG_LEVEL: "debug", ...outOfTheWay, ...environment };
  }

  /** Made when it is first asked for, so that a test that is skipped leaves nothing behind. */
  get dataDirectory(): string {
    this.#directory ??= temporaryDirectory();
    return this.#directory.path;
  }

  /** e.g. `http://127.0.0.1:43210` */
  get origin(): string {
    return this.#origin;
  }

  get baseUrl(): string {
    return `${this.#origin}/api/public/v1`;
  }

  get pid(): number {
    if (this.#child === null) throw new Error("the server does not run");
    return this.#child.pid;
  }

  /** Everything logged so far by all processes on this data directory, in order. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  /**
   * Starts a process on the data directory and waits until its models are loaded. To ask /readyz would have it try them, too.
   * @param untilReady false: only until it listens
   */
  start(untilReady = true): Promise<void> {
    return this.#start(untilReady, "0");
  }

  /** Starts a process where the one before listened, as people's servers do, and waits until it listens. */
  startAgain(): Promise<void> {
    return this.#start(false, new URL(this.#origin).port);
  }

  async #start(untilReady: boolean, port: string): Promise<void> {
    if (this.#child !== null) throw new Error("the server runs already");
    const { verdicts } = new DataDirectory(this.dataDirectory);
    if (TestServer.#verdicts !== null && !existsSync(verdicts)) {
      writeFileSync(verdicts, TestServer.#verdicts, { mode: 0o600 });
    }
    const command = programCommand("serve", "--port", port, "--data-dir", this.dataDirectory);
    const since = this.#log.length;
    const child = Bun.spawn(dyingWithParent(command), {
      cwd: root,
      env: environmentWith(this.#environment),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#child = child;
    TestServer.running.add(this);
    this.#origin = "";
    this.#collected = this.#collect(child.stderr);
    for await (const line of lines(child.stdout)) {
      const origin = /^transcribe serves (https?:\/\/\S+)\/api\/public\/v1$/.exec(line)?.[1];
      if (origin !== undefined) this.#origin = origin;
      break;
    }
    if (this.#origin === "") {
      const exitCode = await this.#end("SIGKILL");
      throw new Error(`the server did not listen and ended with ${exitCode}\n${this.tail()}`);
    }
    if (!untilReady) return;
    await this.until(() => this.#log.slice(since).some(({ event }) => event === "engine.ready"));
    if (existsSync(verdicts)) TestServer.#verdicts ??= readFileSync(verdicts);
  }

  /** Waits for something to come true, and fails with the log's end when the server ends or it takes too long. */
  async until(
    isTrue: () => boolean | Promise<boolean>,
    everyMilliseconds = 50,
    patienceMilliseconds = startTimeout,
  ): Promise<void> {
    const giveUpAt = performance.now() + patienceMilliseconds;
    for (;;) {
      const exitCode = this.#child === null ? "a signal of this process" : this.#child.exitCode;
      if (exitCode !== null) throw new Error(`the server ended with ${exitCode}\n${this.tail()}`);
      if (performance.now() > giveUpAt) throw new Error(`it does not come true: ${isTrue}\n${this.tail()}`);
      if (await isTrue()) return;
      await Bun.sleep(everyMilliseconds);
    }
  }

  /** Waits until it answers that it is ready: an idle worker has three seconds for its first trial, which a slow machine exceeds. */
  untilReady(): Promise<void> {
    return this.until(async () => (await fetch(`${this.#origin}/readyz`)).ok, 200);
  }

  /** Waits until nothing is left of the work on recordings that have ended; it goes in the moments after. */
  untilTidy(): Promise<void> {
    return this.until(() => {
      using database = new Database(join(this.dataDirectory, "transcribe.db"));
      const { parts } = database.query<{ parts: number }, []>("SELECT count(*) AS parts FROM checkpoints").get() ?? {};
      return parts === 0 && readdirSync(join(this.dataDirectory, "work")).length === 0;
    });
  }

  /** Asks the server to stop and waits. @returns its exit code */
  async stop(): Promise<number> {
    return this.#end("SIGTERM");
  }

  /** Kills the server as a power cut would. */
  async killHard(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Runs a command of the CLI on the server's data directory. */
  cli(...args: readonly string[]): Promise<CliResult> {
    return runCli([...args, "--data-dir", this.dataDirectory], this.#environment);
  }

  /** A client with a new key of a new account. @param patienceMilliseconds as of `TestClient` */
  client(account: string, patienceMilliseconds?: number): TestClient {
    const store = openDatabaseOf(new DataDirectory(this.dataDirectory));
    try {
      const by = { actor: "test", now: Date.now() };
      const { secret } = createKey(store, createAccount(store, account, by), { name: "test" }, by);
      return new TestClient(this.baseUrl, secret, patienceMilliseconds);
    } finally {
      store.$client.close();
    }
  }

  /** The log's last lines, for people; without the polls, which would push all else out of sight. */
  tail(count = 40): string {
    return this.#log
      .filter(({ event, status }) => event !== "http.request" || status !== 200)
      .slice(-count)
      .map((line) => JSON.stringify(line))
      .join("\n");
  }

  /** A test's body that prints the end of the log when it fails. */
  showing(body: () => Promise<void>): () => Promise<void> {
    return async () => {
      try {
        await body();
      } catch (error) {
        console.error(`the server's log ends:\n${this.tail()}`);
        throw error;
      }
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child !== null) await this.#end("SIGKILL");
    this.#directory?.[Symbol.dispose]();
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    const child = this.#child;
    if (child === null) throw new Error("the server does not run");
    const collected = this.#collected;
    child.kill(signal);
    const exitCode = await child.exited;
    // Its last lines may still be in the pipe, which a child of its own may hold open.
    await Promise.race([collected, Bun.sleep(5000)]);
    this.#child = null;
    TestServer.running.delete(this);
    return exitCode;
  }

  async #collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const line of lines(stream)) {
      const parsed = parsedOrNot(line);
      this.#log.push(Value.Check(lineSchema, parsed) ? parsed : { event: "no event", line });
    }
  }
}

/** A line of the log; whoever is killed leaves half of one. */
function parsedOrNot(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return { event: "not JSON", line };
  }
}

/** Runs a command of the CLI to its end. @param environment settings and `TRANSCRIBE_API_KEY` */
export async function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const child = Bun.spawn(programCommand(...args), {
    cwd: root,
    env: environmentWith(environment),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** Our environment without the settings that a developer may have in it. */
function environmentWith(settings: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("TRANSCRIBE_") || name === "TRANSCRIBE_CACHE",
  );
  // Nor the machine's settings file.
  return { ...Object.fromEntries(inherited), TRANSCRIBE_CONFIG: "", ...programSettings, ...settings };
}

async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const found = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
  if (rest !== "") yield rest;
}
