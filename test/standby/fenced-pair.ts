import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../harness/processes.ts";
import { TestServer } from "../../harness/server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { DataPaths, writeStandbyMarker } from "../../src/storage/index.ts";

/** The shortest lease. Tests wait for events, and the lease is the longest of them. */
export const LEASE_SECONDS = "2";

/** Settings of a server with a fence. */
export const fencedBy = (fence: string): Record<string, string> => ({
  TRANSCRIBE_STANDBY_FENCE: fence,
  TRANSCRIBE_STANDBY_LEASE_SECONDS: LEASE_SECONDS,
});

/** A server and the standby's data directory, which is made from the server's. */
export class FencedPair implements AsyncDisposable {
  readonly first: TestServer;
  readonly second: TestServer;
  readonly #folder: ReturnType<typeof temporaryDirectory> | null;

  private constructor(
    settings: Readonly<Record<string, string>>,
    folder: ReturnType<typeof temporaryDirectory> | null,
  ) {
    this.#folder = folder;
    this.first = new TestServer(settings);
    this.second = new TestServer(settings);
  }

  /** Returns two servers that a folder fences. */
  static byFolder(settings: Readonly<Record<string, string>> = {}): FencedPair {
    const folder = temporaryDirectory();
    mkdirSync(join(folder.path, "fence"));
    return new FencedPair({ ...fencedBy(join(folder.path, "fence")), ...settings }, folder);
  }

  /** Returns two servers that something else fences. */
  static with(settings: Readonly<Record<string, string>>): FencedPair {
    return new FencedPair(settings, null);
  }

  get folder(): string {
    return join(this.#folder?.path ?? "", "fence");
  }

  /** Makes the second data directory that of a standby with all data of the first one, whose server does not run. */
  copy(): void {
    const to = this.second.dataDirectory;
    rmSync(to, { recursive: true, force: true });
    mkdirSync(to, { mode: 0o700 });
    const paths = new DataPaths(to);
    writeStandbyMarker(paths, { from: this.first.dataDirectory, since: 0, appliedAt: null, complete: false });
    for (const name of ["transcribe.db", "transcribe.db-wal", "uploads", "work"]) {
      if (!existsSync(join(this.first.dataDirectory, name))) continue;
      cpSync(join(this.first.dataDirectory, name), join(to, name), { recursive: true });
    }
    writeStandbyMarker(paths, { from: this.first.dataDirectory, since: 0, appliedAt: Date.now(), complete: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.first[Symbol.asyncDispose]();
    await this.second[Symbol.asyncDispose]();
    this.#folder?.[Symbol.dispose]();
  }
}

/** Waits until a server has exited by itself. @returns its exit code */
export async function exitCodeOf(server: TestServer): Promise<number> {
  const { pid } = server;
  while (isAlive(pid)) await Bun.sleep(20);
  return await server.stop();
}
