import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ownCommand } from "../program/index.ts";
import { messageOf } from "../text/index.ts";
import { syncDirectoryNow } from "./sync-directory.ts";

/** Gives a file its name, or removes it. */
interface Publisher {
  publish(): Promise<void>;
  discard(): void;
}

/**
 * A file that is being written where the caller asked for it. It is its owner's alone, and appears under its name whole
 * and synced, or not at all; dispose of it, and what was not published is gone.
 */
export class NewFile implements Disposable {
  readonly path: string;
  readonly descriptor: number;
  readonly #publisher: Publisher;
  #isOpen = true;

  /**
   * @param givesUpRights whether this process is about to give up the rights that it needs to give the file its name: then
   * another one, which keeps them and does nothing else, is started to do so
   * @throws the file system's error where no file can be made there
   */
  constructor(path: string, { givesUpRights = false, mode = 0o600 }: { givesUpRights?: boolean; mode?: number } = {}) {
    this.path = resolve(path);
    const partial = `${this.path}.partial`;
    // One that was killed while it was written.
    rmSync(partial, { force: true });
    this.descriptor = openSync(partial, "wx", mode);
    try {
      this.#publisher = givesUpRights ? startPublisher(partial, this.path) : publisherHere(partial, this.path);
    } catch (error) {
      closeSync(this.descriptor);
      rmSync(partial, { force: true });
      throw error;
    }
  }

  /** Writes all of it: a write may take only a part, near a full disk for one. */
  write(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.byteLength; ) {
      written += writeSync(this.descriptor, bytes, written, bytes.byteLength - written);
    }
  }

  /** Gives the file its name, in the place of what has that name. */
  async publish(): Promise<void> {
    fsyncSync(this.descriptor);
    this.#close();
    await this.#publisher.publish();
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#close();
    this.#publisher.discard();
  }

  #close(): void {
    this.#isOpen = false;
    closeSync(this.descriptor);
  }
}

function publisherHere(partial: string, target: string): Publisher {
  return {
    async publish() {
      try {
        rename(partial, target);
      } catch (error) {
        rmSync(partial, { force: true });
        throw error;
      }
    },
    discard: () => rmSync(partial, { force: true }),
  };
}

/** What the other process is told for the file to be given its name; anything else, and its end, has the file removed. */
const order = "publish\n";

function startPublisher(partial: string, target: string): Publisher {
  const child = Bun.spawn(ownCommand("__publish", partial, target), {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    // An interrupt at the terminal is for this process; that one sees its end and removes the file.
    detached: true,
  });
  return {
    async publish() {
      child.stdin.write(order);
      child.stdin.end();
      const [refusal] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      if (child.exitCode !== 0) throw new Error(refusal || "the process that was to name the file has gone");
    },
    discard: () => void child.stdin.end(),
  };
}

/** The other process's whole work: `PARTIAL TARGET`. Ends the process. */
export async function runPublish([partial = "", target = ""]: readonly string[]): Promise<never> {
  const told = await new Response(Bun.stdin.stream()).text();
  try {
    if (told !== order) throw new Error("nobody asked for it");
    rename(partial, target);
    process.exit(0);
  } catch (error) {
    rmSync(partial, { force: true });
    await Bun.write(Bun.stdout, messageOf(error));
    process.exit(1);
  }
}

function rename(partial: string, target: string): void {
  renameSync(partial, target);
  syncDirectoryNow(dirname(target));
}
