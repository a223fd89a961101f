import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Subprocess } from "bun";
import { root } from "../../harness/checkout.ts";
import { NatsServer } from "../../harness/nats-server.ts";
import { type CommandResult, isAlive } from "../../harness/processes.ts";
import { programCommand } from "../../harness/program.ts";
import {
  collectLog,
  environmentWith,
  killedWithParent,
  type LogLine,
  lines,
  TestServer,
} from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { TestWorker } from "../../harness/test-worker.ts";
import { COORDINATOR, FleetDirectory } from "../../src/fleet/index.ts";
import { writeCertificateFolders } from "../../src/replication/index.ts";
import { Networks } from "./networks.ts";

const answerSchema = Type.Object({
  method: Type.Union([Type.Literal("GET"), Type.Literal("POST")]),
  /** Times in milliseconds since 1970. */
  sentAt: Type.Number(),
  at: Type.Number(),
  /** 0 if the request had no answer. */
  status: Type.Number(),
  /** Id of the recording that was created. */
  id: Type.Union([Type.String(), Type.Null()]),
});
/** An answer that a server gave to a client in its own network. */
export type Answer = typeof answerSchema.static;

export const BROKER = "broker";
export const WORKER = "worker";
const [FIRST, SECOND] = ["first", "second"] as const;
const STANDBY_PORT = 8788;

/** One of two machines: a server, or the standby of the other one. */
export class StandbyMachine implements AsyncDisposable {
  readonly name: string;
  readonly server: TestServer;
  /** Log lines of `transcribe standby`. */
  readonly log: LogLine[] = [];
  readonly #start: (args: readonly string[]) => Subprocess<"ignore", "ignore", "pipe">;
  readonly #place: (command: readonly string[]) => string[];
  #end: ReturnType<typeof collectLog> | null = null;
  #follower: Subprocess<"ignore", "ignore", "pipe"> | null = null;

  constructor(name: string, networks: Networks, settings: Readonly<Record<string, string>>) {
    const place = (command: readonly string[]) => networks.place(name, command);
    this.name = name;
    this.server = new TestServer(settings, { place });
    this.#place = place;
    this.#start = (args) =>
      Bun.spawn(killedWithParent(place(programCommand("standby", "--data-dir", this.server.dataDirectory, ...args))), {
        cwd: root,
        env: environmentWith(settings),
        stdio: ["ignore", "ignore", "pipe"],
      });
  }

  /** Follows the other machine. Resolves when everything is copied. */
  async follow(...options: readonly string[]): Promise<void> {
    const before = this.log.length;
    this.#follower = this.#start(options);
    this.#end = collectLog(this.#follower, this.log);
    await this.untilFollowing(before);
  }

  /** Resolves when this standby has everything. @param since number of log lines that do not count */
  async untilFollowing(since: number): Promise<void> {
    while (!this.log.slice(since).some(({ event }) => event === "standby.following")) {
      if (this.#follower?.exitCode !== null) throw new Error(`the standby exited: ${JSON.stringify(this.log.at(-1))}`);
      await Bun.sleep(20);
    }
  }

  /** Takes over, which ends this machine's standby. */
  async promote(): Promise<CommandResult & { readonly seconds: number }> {
    const begun = performance.now();
    const result = await this.server.cli("promote");
    return { ...result, seconds: (performance.now() - begun) / 1000 };
  }

  /** Waits until the server has exited by itself. @returns its exit code */
  async exitCode(): Promise<number> {
    const { pid } = this.server;
    while (isAlive(pid)) await Bun.sleep(20);
    return await this.server.stop();
  }

  /**
   * Asks the server from its own network until the answers are taken. Resolves after the first answer.
   * @returns a function that ends it and returns them
   */
  async ask(key: string): Promise<() => Promise<readonly Answer[]>> {
    const script = join(import.meta.dir, "ask-server.ts");
    const command = [process.execPath, "--no-env-file", script, this.server.origin, key];
    const child = Bun.spawn(killedWithParent(this.#place(command)), { stdio: ["ignore", "pipe", "inherit"] });
    const answers: Answer[] = [];
    const first = Promise.withResolvers<void>();
    const collect = async () => {
      for await (const line of lines(child.stdout)) {
        answers.push(Value.Parse(answerSchema, JSON.parse(line)));
        if (answers.some(({ method, status }) => method === "GET" && status === 200)) first.resolve();
      }
    };
    const collected = collect();
    await Promise.race([first.promise, collected]);
    return async () => {
      child.kill();
      await collected;
      return answers;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#follower?.exitCode === null && this.#follower.signalCode === null) await this.#end?.("SIGKILL");
    await this.server[Symbol.asyncDispose]();
  }
}

/**
 * A server, its standby, the broker of their fleet and a worker, each on a machine with a network of its own. The broker
 * is the fence, and changes wait for the standby.
 */
export class TakeoverMachines implements AsyncDisposable {
  readonly networks: Networks;
  /** The machine that serves, and its standby. */
  active: StandbyMachine;
  standby: StandbyMachine;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    networks: Networks,
    active: StandbyMachine,
    standby: StandbyMachine,
    stack: AsyncDisposableStack,
  ) {
    this.networks = networks;
    this.active = active;
    this.standby = standby;
    this.#stack = stack;
  }

  /** Starts all of them. Resolves when the standby follows the server. @param program path of nats-server */
  static async start(program: string, leaseSeconds: number): Promise<TakeoverMachines> {
    await using stack = new AsyncDisposableStack();
    const { path } = stack.use(temporaryDirectory());
    const networks = stack.use(await Networks.create(BROKER, WORKER, FIRST, SECOND));
    const addresses = [FIRST, SECOND].map((name) => networks.addressOf(name));
    const temporary = join(path, "tmp");
    mkdirSync(temporary);
    const [fleet, certificates] = [join(path, "fleet"), join(path, "certificates")];
    await writeCertificateFolders(certificates, { machines: addresses, renew: [] }, Date.now());
    const broker = networks.addressOf(BROKER);
    await FleetDirectory.create(fleet, { broker: [broker], port: 4222, workers: [WORKER] }, Date.now());
    const nats = NatsServer.withFolder(program, join(fleet, "broker"), broker, (command) =>
      networks.place(BROKER, command),
    );
    stack.use(await nats.start());
    const common = { TRANSCRIBE_ENGINE_DEVICE: "cpu", TRANSCRIBE_ENGINE_THREADS: "1", TMPDIR: temporary };
    const machine = (name: string, peer: string) => {
      const [own, other] = [networks.addressOf(name), networks.addressOf(peer)];
      return stack.use(
        new StandbyMachine(name, networks, {
          ...common,
          ...filesOf("STANDBY", join(certificates, own)),
          ...filesOf("FLEET", join(fleet, COORDINATOR)),
          TRANSCRIBE_HOST: own,
          TRANSCRIBE_STANDBY_LISTEN: `${own}:${STANDBY_PORT}`,
          TRANSCRIBE_STANDBY_FROM: `tls://${other}:${STANDBY_PORT}`,
          TRANSCRIBE_STANDBY_WAIT: "true",
          TRANSCRIBE_STANDBY_FENCE: "broker",
          TRANSCRIBE_STANDBY_LEASE_SECONDS: `${leaseSeconds}`,
          TRANSCRIBE_FLEET_BROKER: nats.url,
          TRANSCRIBE_FLEET_MACHINE: COORDINATOR,
          TRANSCRIBE_FLEET_WORK_HERE: "false",
        }),
      );
    };
    const [active, standby] = [machine(FIRST, SECOND), machine(SECOND, FIRST)];
    await active.server.start();
    stack.use(
      new TestWorker({
        args: ["--config", join(fleet, WORKER, "fleet.toml"), "--fleet", nats.url],
        verdictsOf: active.server.dataDirectory,
        environment: common,
        place: (command) => networks.place(WORKER, command),
      }),
    );
    await standby.follow();
    return new TakeoverMachines(networks, active, standby, stack.move());
  }

  /** Notes that the standby has become the server. */
  exchange(): void {
    [this.active, this.standby] = [this.standby, this.active];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}

/** Returns the settings that name a machine's certificate. */
function filesOf(group: string, folder: string): Record<string, string> {
  return {
    [`TRANSCRIBE_${group}_CA`]: join(folder, "ca.pem"),
    [`TRANSCRIBE_${group}_CERTIFICATE`]: join(folder, "certificate.pem"),
    [`TRANSCRIBE_${group}_KEY`]: join(folder, "key.pem"),
  };
}
