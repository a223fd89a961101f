import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { createAccount } from "../src/accounts/index.ts";
import { openDatabaseOf } from "../src/database/index.ts";
import { createKey, type Scope } from "../src/keys/index.ts";
import { DataDirectory } from "../src/storage/index.ts";
import { root } from "./checkout.ts";
import { TestClient } from "./client.ts";
import { type CommandResult, resultOf } from "./processes.ts";
import { programCommand, programSettings } from "./program.ts";
import { reuseSelfTests } from "./self-test-results.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Time for a server to listen and to load its models on a machine that also runs a build. */
export const startTimeout = 120_000;

/** Limits that most tests would exceed, because they poll often and create many recordings. */
export const generousLimits = {
  TRANSCRIBE_LIMITS_REQUESTS_PER_MINUTE: "1000000",
  TRANSCRIBE_LIMITS_CREATES_PER_HOUR: "100000",
  TRANSCRIBE_LIMITS_CREATES_PER_DAY: "100000",
};

const lineSchema = Type.Object({ event: Type.String() }, { additionalProperties: true });

export interface LogLine extends Record<string, unknown> {
  readonly event: string;
}

/** Returns the command line that starts a process elsewhere, e.g. in another network namespace. */
export type Place = (command: readonly string[]) => string[];

/** Starts a process on this machine. */
export const here: Place = (command) => [...command];

/**
 * The real server, started as its users start it. Its data directory survives the process, so that tests can kill the
 * server and start it again. Disposing of it removes the process and the directory.
 */
export class TestServer implements AsyncDisposable {
  readonly #environment: Readonly<Record<string, string>>;
  readonly #reusesSelfTests: boolean;
  readonly #place: Place;
  readonly #log: LogLine[] = [];
  #child: Subprocess<"ignore", "pipe", "pipe"> | null = null;
  #endChild: ReturnType<typeof collectLog> = async () => 0;
  #origin = "";
  #directory: ReturnType<typeof temporaryDirectory> | null = null;

  /** Servers of this process that run. */
  static readonly running = new Set<TestServer>();

  /**
   * @param environment settings, e.g. `TRANSCRIBE_LIMITS_UPLOAD_BYTES`
   * @param options reusesSelfTests: false to run the self-tests at the first start, as a new installation does
   */
  constructor(
    environment: Readonly<Record<string, string>> = {},
    { reusesSelfTests = true, place = here }: { readonly reusesSelfTests?: boolean; readonly place?: Place } = {},
  ) {
    this.#reusesSelfTests = reusesSelfTests;
    this.#place = place;
    this.#environment = { TRANSCRIBE_LOG_LEVEL: "debug", ...generousLimits, ...environment };
  }

  /** Path of the data directory, created on first use so that a skipped test leaves nothing behind. */
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

  /** All log lines so far of all processes on this data directory, in order. */
  get log(): readonly LogLine[] {
    return this.#log;
  }

  /**
   * Starts a process on the data directory and waits until its models are loaded. It does not request /readyz, which
   * would start a self-test.
   * @param untilReady false: waits only until the server listens
   */
  start(untilReady = true): Promise<void> {
    return this.#start(untilReady, "0");
  }

  /** Starts a process on the port of the previous one and waits until it listens. */
  restartOnSamePort(): Promise<void> {
    return this.#start(false, new URL(this.#origin).port);
  }

  async #start(untilReady: boolean, port: string): Promise<void> {
    if (this.#child !== null) throw new Error("the server runs already");
    const storeSelfTests = this.#reusesSelfTests ? reuseSelfTests(this.dataDirectory) : () => {};
    const command = programCommand("serve", "--port", port, "--data-dir", this.dataDirectory);
    const since = this.#log.length;
    const child = Bun.spawn(killedWithParent(this.#place(command)), {
      cwd: root,
      env: environmentWith(this.#environment),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#child = child;
    TestServer.running.add(this);
    this.#origin = "";
    this.#endChild = collectLog(child, this.#log);
    for await (const line of lines(child.stdout)) {
      const origin = /^transcribe serves (https?:\/\/\S+)\/api\/public\/v1$/.exec(line)?.[1];
      if (origin !== undefined) this.#origin = origin;
      break;
    }
    if (this.#origin === "") {
      const exitCode = await this.#end("SIGKILL");
      throw new Error(`the server did not listen and exited with ${exitCode}\n${this.tail()}`);
    }
    if (!untilReady) return;
    await this.until(() => this.#log.slice(since).some(({ event }) => event === "engine.ready"));
    storeSelfTests();
  }

  /** Waits for a condition. Fails with the last log lines when the server exits or the time is over. */
  async until(
    isTrue: () => boolean | Promise<boolean>,
    everyMilliseconds = 50,
    patienceMilliseconds = startTimeout,
  ): Promise<void> {
    const giveUpAt = performance.now() + patienceMilliseconds;
    for (;;) {
      const exitCode = this.#child === null ? "a signal of this process" : this.#child.exitCode;
      if (exitCode !== null) throw new Error(`the server exited with ${exitCode}\n${this.tail()}`);
      if (performance.now() > giveUpAt) throw new Error(`the condition is still false: ${isTrue}\n${this.tail()}`);
      if (await isTrue()) return;
      await Bun.sleep(everyMilliseconds);
    }
  }

  /** Waits until /readyz succeeds. An idle worker has 3 s for its first self-test, which a slow machine exceeds. */
  untilReady(): Promise<void> {
    return this.until(async () => (await fetch(`${this.#origin}/readyz`)).ok, 200);
  }

  /** Waits until checkpoints and work files are removed, which happens shortly after a recording has finished. */
  untilCleanedUp(): Promise<void> {
    return this.until(() => {
      using database = new Database(join(this.dataDirectory, "transcribe.db"));
      const { parts } = database.query<{ parts: number }, []>("SELECT count(*) AS parts FROM checkpoints").get() ?? {};
      return parts === 0 && readdirSync(join(this.dataDirectory, "work")).length === 0;
    });
  }

  /** Stops the server with SIGTERM. @returns its exit code */
  async stop(): Promise<number> {
    return this.#end("SIGTERM");
  }

  /** Kills the server as a power cut would. */
  async killHard(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Runs a command of the CLI on the server's data directory. */
  cli(...args: readonly string[]): Promise<CommandResult> {
    return runCli([...args, "--data-dir", this.dataDirectory], this.#environment, "ignore", this.#place);
  }

  /** Returns a client with a new key of a new account. @param patienceMilliseconds see `TestClient` */
  client(account: string, patienceMilliseconds?: number, keyScopes?: readonly Scope[]): TestClient {
    const store = openDatabaseOf(new DataDirectory(this.dataDirectory));
    try {
      const by = { actor: "test", now: Date.now() };
      const values = { name: "test", ...(keyScopes === undefined ? {} : { scopes: keyScopes }) };
      const { secret } = createKey(store, createAccount(store, account, by), values, by);
      return new TestClient(this.baseUrl, secret, patienceMilliseconds);
    } finally {
      store.$client.close();
    }
  }

  /** Returns the last log lines for a person to read, without successful requests, of which polls make many. */
  tail(count = 40): string {
    return this.#log
      .filter(({ event, status }) => event !== "http.request" || status !== 200)
      .slice(-count)
      .map((line) => JSON.stringify(line))
      .join("\n");
  }

  /** Returns the body of a test that prints the last log lines when it fails. */
  showingLog(body: () => Promise<void>): () => Promise<void> {
    return async () => {
      try {
        await body();
      } catch (error) {
        console.error(`the server's last log lines:\n${this.tail()}`);
        throw error;
      }
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child !== null) await this.#end("SIGKILL");
    this.#directory?.[Symbol.dispose]();
  }

  async #end(signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    if (this.#child === null) throw new Error("the server does not run");
    const exitCode = await this.#endChild(signal);
    this.#child = null;
    TestServer.running.delete(this);
    return exitCode;
  }
}

/** Collects the log lines of a process. @returns a function that ends the process and returns its exit code */
export function collectLog(child: Subprocess<"ignore", "pipe" | "ignore", "pipe">, log: LogLine[]) {
  const collect = async () => {
    for await (const line of logLines(child.stderr)) log.push(line);
  };
  const collected = collect();
  return async (signal: NodeJS.Signals): Promise<number> => {
    child.kill(signal);
    const exitCode = await child.exited;
    // The last lines may still be in the pipe, which a child of the process may hold open.
    await Promise.race([collected, Bun.sleep(5000)]);
    return exitCode;
  };
}

export async function* logLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<LogLine> {
  for await (const line of lines(stream)) {
    const parsed = parseLine(line);
    yield Value.Check(lineSchema, parsed) ? parsed : { event: "no event", line };
  }
}

/** Parses a log line. A killed process can leave an incomplete one. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return { event: "not JSON", line };
  }
}

/** Runs a command of the CLI until it exits. @param environment settings and `TRANSCRIBE_API_KEY` */
export function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stdin: "ignore" | Uint8Array = "ignore",
  place: Place = here,
): Promise<CommandResult> {
  const env = environmentWith(environment);
  const command = place(programCommand(...args));
  return resultOf(Bun.spawn(command, { cwd: root, env, stdin, stdout: "pipe", stderr: "pipe" }));
}

/** Returns the environment of this process without a developer's own settings. */
export function environmentWith(settings: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("TRANSCRIBE_") || name === "TRANSCRIBE_CACHE",
  );
  // An empty path also disables the machine's settings file.
  return { ...Object.fromEntries(inherited), TRANSCRIBE_CONFIG: "", ...programSettings, ...settings };
}

/** Reads the lines of a stream. The last one may have no end. */
export async function* lines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const found = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = found.pop() ?? "";
    yield* found;
  }
  if (rest !== "") yield rest;
}

const setpriv = [Bun.which("setpriv") ?? "", "--pdeathsig", "KILL", "--"];
let setprivWorks: boolean | undefined;

/** Tried when a process is first started, because unit tests may import this file but start no process. */
function hasSetpriv(): boolean {
  setprivWorks ??=
    process.platform === "linux" &&
    setpriv[0] !== "" &&
    Bun.spawnSync([...setpriv, "true"], { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  return setprivWorks;
}

/** Returns a command line whose process the kernel kills when this process exits for any reason. */
export function killedWithParent(command: readonly string[]): string[] {
  return hasSetpriv() ? [...setpriv, ...command] : [...command];
}
