import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { syncDirectoryNow, writeAll } from "../files/index.ts";
import { ownCommand } from "../program/index.ts";
import { messageOf } from "../text/index.ts";

/** Publishes a file under its final name, or removes it. */
interface Publisher {
  publish(): Promise<void>;
  discard(): void;
}

/**
 * A file that is written at a path of the caller's choice. By default only its owner can access it. It appears under
 * its name complete and synced, or not at all. Disposing of it removes it unless it was published.
 */
export class NewFile implements Disposable {
  readonly path: string;
  readonly descriptor: number;
  readonly #publisher: Publisher;
  #isOpen = true;

  /**
   * @param givesUpRights whether this process is about to drop the rights that renaming the file needs. A child process
   * then keeps them and does only the renaming.
   * @throws the file system's error when the file cannot be created
   */
  constructor(path: string, { givesUpRights = false, mode = 0o600 }: { givesUpRights?: boolean; mode?: number } = {}) {
    this.path = resolve(path);
    const partial = `${this.path}.partial`;
    // Left behind by a process that was killed while it wrote the file.
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

  write(bytes: Uint8Array): void {
    writeAll(this.descriptor, bytes);
  }

  /** Renames the file to its final name and replaces an existing file. */
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

/** Input that makes the child process rename the file. Any other input, or its end, makes it remove the file. */
const PUBLISH = "publish\n";

function startPublisher(partial: string, target: string): Publisher {
  const child = Bun.spawn(ownCommand("__publish", partial, target), {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
    // An interrupt at the terminal is for this process only. The child sees this process exit and removes the file.
    detached: true,
  });
  return {
    async publish() {
      child.stdin.write(PUBLISH);
      child.stdin.end();
      const [refusal] = await Promise.all([new Response(child.stdout).text(), child.exited]);
      if (child.exitCode !== 0) throw new Error(refusal || "the process that renames the file exited");
    },
    discard: () => void child.stdin.end(),
  };
}

/** Runs the child process with the arguments `PARTIAL TARGET`, and exits. */
export async function runPublish([partial = "", target = ""]: readonly string[]): Promise<never> {
  const input = await new Response(Bun.stdin.stream()).text();
  try {
    if (input !== PUBLISH) throw new Error("the file was not published");
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
