import { Database } from "bun:sqlite";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { createAccount } from "../src/accounts/index.ts";
import { openDatabase, type Store } from "../src/database/index.ts";
import { createKey } from "../src/keys/index.ts";
import { Recordings } from "../src/recordings/index.ts";
import { writeCertificateFolders } from "../src/replication/index.ts";
import { DataDirectory } from "../src/storage/index.ts";
import { root } from "./checkout.ts";
import { TestClient } from "./client.ts";
import { newRecording } from "./new-recording.ts";
import { programCommand } from "./program.ts";
import { reuseSelfTests } from "./self-test-results.ts";
import { collectLog, environmentWith, killedWithParent, type LogLine, startTimeout } from "./server.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const HOST = "127.0.0.1";

/** A process of the program, and its log so far. */
export interface RunningProgram {
  readonly child: Subprocess<"ignore", "pipe", "pipe">;
  readonly log: LogLine[];
  end(signal: NodeJS.Signals): Promise<number>;
}

/** A real server and a real standby, whose processes can be killed and started again. */
export class StandbyPair implements AsyncDisposable {
  readonly #temporary = temporaryDirectory();
  readonly path = this.#temporary.path;
  serverDirectory = join(this.path, "server");
  standbyDirectory = join(this.path, "standby");
  #port = freePort();
  standbyPort = freePort();
  /** Port of the other machine's server, see `serveOrFollow`. */
  readonly otherPort = freePort();
  readonly #started: RunningProgram[] = [];

  /** Creates the certificates of both. */
  static async create(): Promise<StandbyPair> {
    const pair = new StandbyPair();
    await writeCertificateFolders(
      join(pair.path, "certificates"),
      { machines: [HOST, "standby"], renew: [] },
      Date.now(),
    );
    return pair;
  }

  /** Settings of one of both. @param folder the folder of its certificate */
  settings(folder: string): Record<string, string> {
    const file = (name: string) => join(this.path, "certificates", folder, name);
    return {
      TRANSCRIBE_STANDBY_CA: file("ca.pem"),
      TRANSCRIBE_STANDBY_CERTIFICATE: file("certificate.pem"),
      TRANSCRIBE_STANDBY_KEY: file("key.pem"),
    };
  }

  /** Creates a folder as the fence. @returns the settings of both machines that name it */
  fenceSettings(leaseSeconds = 2): Record<string, string> {
    const fence = join(this.path, "fence");
    mkdirSync(fence);
    return { TRANSCRIBE_STANDBY_FENCE: fence, TRANSCRIBE_STANDBY_LEASE_SECONDS: String(leaseSeconds) };
  }

  /** e.g. `http://127.0.0.1:43210` */
  get origin(): string {
    return `http://${HOST}:${this.#port}`;
  }

  /**
   * Starts the server, and waits until it listens.
   * @param preload a module that its process loads before the program
   * @param log gets the lines of this server, perhaps after those of earlier ones
   */
  async serve(
    settings: Readonly<Record<string, string>> = {},
    preload: string | null = null,
    log: LogLine[] = [],
  ): Promise<RunningProgram> {
    mkdirSync(this.serverDirectory, { recursive: true, mode: 0o700 });
    reuseSelfTests(this.serverDirectory);
    const earlier = log.filter(isListening).length;
    const [program = "", ...rest] = programCommand(
      "serve",
      "--port",
      `${this.#port}`,
      "--data-dir",
      this.serverDirectory,
    );
    const running = this.#start(
      [program, ...(preload === null ? [] : ["--preload", preload]), ...rest],
      {
        ...this.settings(HOST),
        TRANSCRIBE_STANDBY_LISTEN: `${HOST}:${this.standbyPort}`,
        ...settings,
      },
      log,
    );
    await until(running, isListening, earlier + 1);
    return running;
  }

  /** Starts the standby. @param from the server, by default at its address */
  follow(
    from = `tls://${HOST}:${this.standbyPort}`,
    settings = this.settings("standby"),
    ...options: readonly string[]
  ): RunningProgram {
    const command = programCommand("standby", "--from", from, "--data-dir", this.standbyDirectory, ...options);
    return this.#start(command, settings);
  }

  /** Starts the other machine's server, which follows until a takeover (standby.follow). It has a port of its own. */
  serveOrFollow(settings: Readonly<Record<string, string>> = {}, port = this.otherPort): RunningProgram {
    const directory = this.standbyDirectory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    reuseSelfTests(directory);
    return this.#start(programCommand("serve", "--port", `${port}`, "--data-dir", directory), {
      ...this.settings("standby"),
      TRANSCRIBE_STANDBY_FROM: `tls://${HOST}:${this.standbyPort}`,
      TRANSCRIBE_STANDBY_FOLLOW: "true",
      ...settings,
    });
  }

  /** Exchanges the roles of both directories, after a takeover. */
  exchange(): void {
    [this.serverDirectory, this.standbyDirectory] = [this.standbyDirectory, this.serverDirectory];
  }

  /** Lets the next server listen on other ports, because the former one still has its own. */
  useOtherPorts(): void {
    this.#port = freePort();
    this.standbyPort = freePort();
  }

  /** Uses the server's database, as a command does. */
  withStore<T>(use: (store: Store) => T): T {
    const store = openDatabase(new DataDirectory(this.serverDirectory).databasePath);
    try {
      return use(store);
    } finally {
      store.$client.close();
    }
  }

  /** Returns a client of the server with a new key of a new account. */
  client(name: string): TestClient & { readonly accountId: string } {
    return this.withStore((store) => {
      const by = { actor: "test", now: Date.now() };
      const account = createAccount(store, name, by);
      const { secret } = createKey(
        store,
        account,
        {
          name: "test",
          scopes: ["transcriptions:read", "transcriptions:write", "transcriptions:edit", "transcriptions:delete"],
        },
        by,
      );
      const client = new TestClient(`${this.origin}/api/public/v1`, secret);
      return Object.assign(client, { accountId: account.id });
    });
  }

  /** Creates a completed recording, as a command with the database open does. @returns its id */
  completed(accountId: string): string {
    return this.withStore((store) => {
      const recordings = new Recordings(store, Date.now);
      const { id } = recordings.create(newRecording(Bun.randomUUIDv7(), accountId));
      recordings.claim(id);
      const words = [{ text: "hello", startSeconds: 0, endSeconds: 1, probability: 0.9 }];
      recordings.complete(id, [{ index: 0, startSeconds: 0, endSeconds: 1, speaker: 0, text: "hello", words }]);
      return id;
    });
  }

  /**
   * Reads a copy of the standby's directory, as a takeover does. Nothing may be on its way to the standby.
   * @throws {Error} if the database is damaged
   */
  inCopy<T>(read: (database: Database, uploads: readonly string[]) => T): T {
    const path = join(this.path, "copy");
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
    for (const name of readdirSync(this.standbyDirectory).filter((each) => each.startsWith("transcribe.db"))) {
      cpSync(join(this.standbyDirectory, name), join(path, name));
    }
    const uploads = join(this.standbyDirectory, "uploads");
    using database = new Database(join(path, "transcribe.db"), { readwrite: true });
    const check = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()?.integrity_check;
    if (check !== "ok") throw new Error(`the copy is damaged: ${check}`);
    return read(database, existsSync(uploads) ? readdirSync(uploads) : []);
  }

  #start(command: readonly string[], settings: Readonly<Record<string, string>>, log: LogLine[] = []): RunningProgram {
    const child = Bun.spawn(killedWithParent(command), {
      cwd: root,
      env: environmentWith(settings),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const running = { child, log, end: collectLog(child, log) };
    this.#started.push(running);
    return running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child, end } of this.#started)
      if (child.exitCode === null && child.signalCode === null) await end("SIGKILL");
    this.#temporary[Symbol.dispose]();
  }
}

const isListening = ({ event }: LogLine) => event === "server.listening";

/** Waits until a process has logged a number of such lines. @throws {Error} with its log when it exits before */
export async function until(
  { child, log }: RunningProgram,
  isWanted: (line: LogLine) => boolean,
  count = 1,
): Promise<LogLine> {
  const giveUpAt = performance.now() + startTimeout;
  for (;;) {
    const line = log.filter(isWanted)[count - 1];
    if (line !== undefined) return line;
    if (child.exitCode !== null || performance.now() > giveUpAt) {
      throw new Error(
        `the line does not come: ${isWanted}\n${log
          .slice(-20)
          .map((each) => JSON.stringify(each))
          .join("\n")}`,
      );
    }
    await Bun.sleep(20);
  }
}

function freePort(): number {
  const server = Bun.listen({ hostname: HOST, port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}
