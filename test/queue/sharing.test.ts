import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newRecording } from "../../harness/new-recording.ts";
import { createAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { RecordingQueue, SuspendError } from "../../src/queue/index.ts";
import { Recordings } from "../../src/recordings/index.ts";

type Work = ConstructorParameters<typeof RecordingQueue>[0]["process"];

/** A queue over a real database, which processes a recording until the test ends it. */
class Scene {
  readonly store: Store = openDatabase(":memory:");
  #milliseconds = 0;
  /** A clock that advances, so that no two recordings are created at the same time. */
  readonly now = () => this.minutes * 60_000 + ++this.#milliseconds;
  readonly recordings = new Recordings(this.store, this.now);
  readonly accounts = new Map<string, string>();
  readonly priorities: Record<string, number> = {};
  minutes = 0;
  /** Names of recordings that hold a slot or are being downloaded. */
  readonly processing = new Set<string>();
  readonly fetching = new Set<string>();
  /** Events in order: `begins a1`, `suspended a1`, `ends a1`. */
  readonly events: string[] = [];
  readonly #names = new Map<string, string>();
  readonly #ends = new Map<string, () => void>();
  #queue: RecordingQueue | null = null;

  get queue(): RecordingQueue {
    if (this.#queue === null) throw new Error("the queue has not been started");
    return this.#queue;
  }

  start(slots: number, options: Partial<ConstructorParameters<typeof RecordingQueue>[0]> = {}): void {
    const { recordings } = this;
    const work =
      (working: Set<string>): Work =>
      async (id, signal) => {
        const name = this.#names.get(id) ?? "";
        if (recordings.get(id)?.status === "failed") {
          this.events.push(`cleans up ${name}`);
          return null;
        }
        if (working === this.processing) recordings.claim(id);
        working.add(name);
        this.events.push(`begins ${name}`);
        const end = Promise.withResolvers<void>();
        this.#ends.set(name, end.resolve);
        signal.addEventListener("abort", () => end.resolve());
        await end.promise;
        working.delete(name);
        const isSuspended = signal.reason instanceof SuspendError;
        this.events.push(`${isSuspended ? "suspended" : "ends"} ${name}`);
        if (isSuspended) return { waitsFor: "slot" };
        if (working === this.fetching) {
          recordings.fetched(id, 1000);
          return { waitsFor: "slot" };
        }
        recordings.complete(id, []);
        return null;
      };
    this.#queue = new RecordingQueue({
      ...{ recordings, slots, process: work(this.processing), fetch: work(this.fetching), watchMilliseconds: 2 },
      priorityOf: (account) => this.priorities[[...this.accounts].find(([, id]) => id === account)?.[0] ?? ""] ?? 0,
      now: this.now,
      onFault: (_, error) => {
        throw error;
      },
      ...options,
    });
    this.#queue.recover();
  }

  /** Creates a recording named by its account's letter and a number; `link` for one that is not downloaded yet. */
  send(name: string, link = false): void {
    const letter = name.charAt(0);
    const account = this.accounts.get(letter) ?? createAccount(this.store, letter, { actor: "operator", now: 1 }).id;
    this.accounts.set(letter, account);
    const id = Bun.randomUUIDv7();
    this.#names.set(id, name);
    const source = link ? { sourceUrl: "https://recordings.test/a", sizeBytes: null } : {};
    this.queue.add(this.recordings.create(newRecording(id, account, source)));
  }

  /** Starts with a slot for each of these recordings, and waits until they hold them. */
  async fill(...names: string[]): Promise<void> {
    this.start(names.length);
    for (const name of names) this.send(name);
    await this.processed(...names);
  }

  end(name: string): void {
    this.#ends.get(name)?.();
  }

  idOf(name: string): string {
    return [...this.#names].find(([, each]) => each === name)?.[0] ?? "";
  }

  record(name: string) {
    return this.recordings.get(this.idOf(name));
  }

  waiting(): string[] {
    return this.queue.waiting(100).map((id) => this.#names.get(id) ?? "");
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await Bun.sleep(1);
  }

  /** Waits until exactly these recordings hold a slot. */
  processed(...names: string[]): Promise<void> {
    return this.until(() => [...this.processing].toSorted().join() === names.toSorted().join());
  }

  /** Checks several times that the slots do not change. */
  async stays(...names: string[]): Promise<void> {
    const before = [...this.events];
    for (let look = 0; look < 10; look++) await Bun.sleep(3);
    expect([...this.processing].toSorted()).toEqual(names.toSorted());
    expect(this.events).toEqual(before);
  }
}

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});
afterEach(async () => {
  await scene.queue.stop();
  scene.store.$client.close();
});

describe("an account that holds all slots", () => {
  test("releases one to another account: its last recording is suspended and resumes when a slot is free", async () => {
    await scene.fill("a1", "a2", "a3");
    scene.send("a4");
    scene.send("b1");
    await scene.processed("a1", "a2", "b1");
    expect(scene.record("a3")).toMatchObject({ status: "queued" });
    expect(scene.waiting()).toEqual(["a3", "a4"]);
    await scene.stays("a1", "a2", "b1");
    scene.end("b1");
    await scene.processed("a1", "a2", "a3");
    expect(scene.record("a3")).toMatchObject({ status: "processing" });
    expect(scene.events.filter((event) => event.startsWith("suspended"))).toEqual(["suspended a3"]);
  });

  test("releases slots down to its fair share and no further", async () => {
    await scene.fill("a1", "a2", "a3", "a4", "a5");
    for (const name of ["b1", "b2", "b3"]) scene.send(name);
    await scene.processed("a1", "a2", "a3", "b1", "b2");
    await scene.stays("a1", "a2", "a3", "b1", "b2");
    for (const name of ["c1", "d1"]) scene.send(name);
    await scene.processed("a1", "a2", "b1", "c1", "d1");
    scene.send("e1");
    await scene.processed("a1", "b1", "c1", "d1", "e1");
    scene.send("f1");
    await scene.stays("a1", "b1", "c1", "d1", "e1");
  });

  test("holds all slots but one by its higher priority, until the other account has waited long enough", async () => {
    scene.priorities.a = 2;
    await scene.fill("a1", "a2", "a3", "a4");
    for (const name of ["b1", "b2"]) scene.send(name);
    await scene.processed("a1", "a2", "a3", "b1");
    scene.minutes = 19;
    await scene.stays("a1", "a2", "a3", "b1");
    scene.minutes = 20;
    await scene.processed("a1", "a2", "b1", "b2");
    await scene.stays("a1", "a2", "b1", "b2");
  });

  test("is not suspended for a single slot, which accounts use round robin", async () => {
    scene.start(1);
    for (const name of ["a1", "a2", "b1"]) scene.send(name);
    await scene.stays("a1");
    scene.end("a1");
    await scene.processed("b1");
    scene.end("b1");
    await scene.processed("a2");
  });

  test("releases one when the number of slots is reduced below what it holds", async () => {
    await scene.fill("a1", "a2", "a3", "a4", "a5");
    scene.queue.slots = 2;
    await scene.stays("a1", "a2", "a3", "a4", "a5");
    scene.send("b1");
    await scene.processed("a1", "b1");
    await scene.stays("a1", "b1");
  });

  test("releases its slot when the suspended recording ends at that moment", async () => {
    await scene.fill("a1", "a2");
    scene.recordings.complete(scene.idOf("a2"), []);
    scene.send("b1");
    await scene.processed("a1", "b1");
    expect(scene.record("a2")).toMatchObject({ status: "completed" });
    expect(scene.waiting()).toEqual([]);
  });

  test("has a suspended recording that a command ends cleaned up at once, without a slot", async () => {
    await scene.fill("a1", "a2");
    scene.send("b1");
    await scene.processed("a1", "b1");
    scene.recordings.fail(scene.idOf("a2"), { reason: "internal", cause: "cancelled" });
    await scene.until(() => scene.events.includes("cleans up a2"));
    expect(scene.waiting()).toEqual([]);
    await scene.stays("a1", "b1");
  });

  test("releases one after a restart, too", async () => {
    await scene.fill("a1", "a2");
    scene.send("b1");
    await scene.processed("a1", "b1");
    await scene.queue.stop();
    scene.processing.clear();
    scene.start(2);
    await scene.processed("a1", "b1");
    await scene.stays("a1", "b1");
    expect(scene.waiting()).toEqual(["a2"]);
  });
});

describe("a suspended recording whose operation takes long", () => {
  const hurried: string[] = [];
  const startSlow = async (stopMilliseconds: number) => {
    const process: Work = (id, signal) => {
      const stopped = Promise.withResolvers<{ waitsFor: "slot" }>();
      signal.addEventListener("abort", () => {
        const { reason } = signal;
        if (!(reason instanceof SuspendError)) return stopped.resolve({ waitsFor: "slot" });
        if (reason.graceMilliseconds < 60_000) return;
        // The operation in progress ends with the grace time.
        reason.graceEnded.addEventListener("abort", () => {
          hurried.push(id);
          stopped.resolve({ waitsFor: "slot" });
        });
        scene.events.push("leaves");
      });
      return stopped.promise;
    };
    hurried.length = 0;
    scene.start(2, { process, stopMilliseconds });
    for (const name of ["a1", "a2", "b1"]) scene.send(name);
    await scene.until(() => scene.events.includes("leaves"));
    expect(hurried).toEqual([]);
  };

  test("is abandoned at once when a command ends it", async () => {
    await startSlow(10);
    scene.recordings.fail(scene.idOf("a2"), { reason: "internal", cause: "cancelled" });
    await scene.until(() => hurried.length > 0);
    expect(hurried).toEqual([scene.idOf("a2")]);
  });

  test("is abandoned in time when the server stops", async () => {
    await startSlow(100);
    await scene.queue.stop();
    expect(hurried).toEqual([scene.idOf("a2")]);
  });
});

describe("links", () => {
  test("are downloaded outside the slots, two of an account at once, and are processed when they are there", async () => {
    scene.start(1);
    for (const name of ["a1", "a2", "a3", "a4"]) scene.send(name, true);
    scene.send("b1");
    await scene.processed("b1");
    expect([...scene.fetching]).toEqual(["a1", "a2"]);
    expect(scene.waiting()).toEqual(["a3", "a4"]);
    scene.end("a1");
    await scene.until(() => scene.fetching.has("a3"));
    expect([...scene.fetching]).toEqual(["a2", "a3"]);
    expect(scene.record("a1")).toMatchObject({ status: "queued", sizeBytes: 1000, step: null });
    expect(scene.waiting()).toEqual(["a1", "a4"]);
    scene.end("b1");
    await scene.processed("a1");
    expect(scene.waiting()).toEqual(["a4"]);
  });

  test("of few accounts leave downloads to other accounts, which are served round robin", async () => {
    scene.start(1);
    const many = Array.from({ length: 10 }, (_, index) => String.fromCharCode(97 + index));
    for (const account of many) for (const number of [1, 2, 3, 4, 5]) scene.send(`${account}${number}`, true);
    for (const account of many) expect([...scene.fetching]).toContain(`${account}1`);
    // Two of each account while half of the downloads are free; then one.
    expect(scene.fetching.size).toBe(18);
    for (const account of ["x", "y", "z"]) {
      scene.send(`${account}1`, true);
      scene.send(`${account}2`, true);
      expect([...scene.fetching]).toContain(`${account}1`);
      expect([...scene.fetching]).not.toContain(`${account}2`);
    }
    expect(scene.waiting().slice(0, 4)).toEqual(["i2", "j2", "x2", "y2"]);
  });

  test("that a command ends release their downloads; those that the server stops are downloaded by the next server", async () => {
    scene.start(1);
    for (const name of ["a1", "a2", "a3"]) scene.send(name, true);
    scene.send("a4", true);
    for (const name of ["a1", "a4"])
      scene.recordings.fail(scene.idOf(name), { reason: "internal", cause: "cancelled" });
    await scene.until(() => scene.fetching.has("a3") && scene.events.includes("cleans up a4"));
    expect([...scene.fetching]).toEqual(["a2", "a3"]);
    await scene.queue.stop();
    expect([...scene.fetching]).toEqual([]);
    expect(scene.record("a2")).toMatchObject({ status: "queued", sizeBytes: null });
    scene.start(1);
    expect([...scene.fetching]).toEqual(["a2", "a3"]);
  });

  test("without disk space are retried, and other downloads continue meanwhile", async () => {
    let isFull = true;
    const fetched: string[] = [];
    scene.start(1, {
      retryMilliseconds: () => 1,
      fetch: async (id) => {
        if (isFull) return { waitsFor: "no_room" };
        scene.recordings.fetched(id, 1);
        fetched.push(id);
        return { waitsFor: "slot" };
      },
    });
    scene.send("a1", true);
    await scene.until(() => scene.queue.stalled().length === 1);
    expect(scene.queue.troubleOf(scene.idOf("a1"))).toBe("no_room");
    isFull = false;
    await scene.processed("a1");
    expect(fetched).toEqual([scene.idOf("a1")]);
    expect(scene.queue.stalled()).toEqual([]);
  });

  test("without disk space start again after the account's other links, so that none waits for ever", async () => {
    const fetching: { readonly id: string; readonly meetsFullDisk: () => void }[] = [];
    scene.start(1, {
      retryMilliseconds: () => 1,
      fetch: async (id, signal) => {
        const attempt = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => attempt.resolve());
        fetching.push({ id, meetsFullDisk: attempt.resolve });
        await attempt.promise;
        return { waitsFor: "no_room" };
      },
    });
    const names = ["a1", "a2", "a3", "a4"];
    for (const name of names) scene.send(name, true);
    await scene.until(() => fetching.length === 2);
    fetching[0]?.meetsFullDisk();
    await scene.until(() => scene.waiting().includes("a1"));
    expect(scene.waiting()).toEqual(["a4", "a1"]);
    fetching[1]?.meetsFullDisk();
    await scene.until(() => fetching.length === 4);
    expect(fetching.map(({ id }) => id)).toEqual(names.map((name) => scene.idOf(name)));
  });
});
