import { beforeEach, describe, expect, test } from "bun:test";
import { createAccount } from "../../src/accounts/index.ts";
import type { Store } from "../../src/database/index.ts";
import { RecordingQueue } from "../../src/queue/index.ts";
import type { Recordings } from "../../src/recordings/index.ts";
import { Shelf } from "../support/shelf.ts";

const missing = () => {
  throw new Error("the recording is not there");
};

type QueueOptions = ConstructorParameters<typeof RecordingQueue>[0];

describe("the queue", () => {
  let shelf: Shelf;
  let store: Store;
  let recordings: Recordings;
  const create = (accountId = shelf.accountId) => shelf.create({ accountId }).id;
  /** Returns a queue with one slot for recordings, of which none is a link. */
  const queueWith = (options: Partial<QueueOptions> & Pick<QueueOptions, "process">): RecordingQueue =>
    new RecordingQueue({
      recordings,
      slots: 1,
      priorityOf: () => 0,
      now: Date.now,
      fetch: () => {
        throw new Error("there is no link");
      },
      onFault: (_id, error) => {
        throw error;
      },
      ...options,
    });
  beforeEach(() => {
    shelf = new Shelf();
    ({ store, recordings } = shelf);
  });

  test("finishes what runs after its slots are reduced, and fills them when they are increased", async () => {
    for (let count = 0; count < 4; count++) create();
    const running: PromiseWithResolvers<void>[] = [];
    const queue = queueWith({
      slots: 2,
      process: () => {
        const recording = Promise.withResolvers<void>();
        running.push(recording);
        return recording.promise.then(() => null);
      },
    });
    const begun = async () => {
      await Bun.sleep(1);
      return running.length;
    };
    queue.recover();
    expect(await begun()).toBe(2);
    queue.slots = 1;
    running[0]?.resolve();
    expect(await begun()).toBe(2);
    running[1]?.resolve();
    expect(await begun()).toBe(3);
    queue.slots = 2;
    expect(await begun()).toBe(4);
    for (const { resolve } of running) resolve();
    await queue.stop();
  });

  test("processes as many recordings at once as there are slots, and all of them", async () => {
    let running = 0;
    let most = 0;
    const done: string[] = [];
    const ids = Array.from({ length: 12 }, () => create());
    const queue = queueWith({
      slots: 5,
      process: async (id) => {
        running += 1;
        most = Math.max(most, running);
        await Bun.sleep(2);
        running -= 1;
        done.push(id);
        return null;
      },
    });
    queue.recover();
    while (done.length < 12) await Bun.sleep(1);
    expect(most).toBe(5);
    expect(done.toSorted()).toEqual(ids.toSorted());
  });

  test("resumes what a crashed server was processing before what was queued", async () => {
    const ids = [create(), create(), create()];
    recordings.claim(ids[1] ?? "");
    const order: string[] = [];
    const queue = queueWith({
      process: async (id) => {
        order.push(id);
        return null;
      },
    });
    expect(queue.recover()).toBe(3);
    while (order.length < 3) await Bun.sleep(1);
    expect(order).toEqual([ids[1] ?? "", ids[0] ?? "", ids[2] ?? ""]);
    expect(recordings.get(ids[1] ?? "")?.status).toBe("queued");
  });

  test("processes a recording once that is added twice", async () => {
    const id = create();
    const seen: string[] = [];
    const queue = queueWith({
      slots: 2,
      process: async (each) => {
        seen.push(each);
        return null;
      },
    });
    queue.recover();
    queue.add(recordings.get(id) ?? missing());
    await queue.stop();
    expect(seen).toEqual([id]);
  });

  test("retries a recording that waits for the machine, and gives its slot to others meanwhile", async () => {
    const [large = "", small = ""] = [create(), create()];
    const order: string[] = [];
    const waits: number[] = [];
    let isFull = true;
    const queue = queueWith({
      retryMilliseconds: (tries) => {
        waits.push(tries);
        return 2;
      },
      process: async (id) => {
        order.push(id);
        return id === large && isFull ? { waitsFor: "disk_full" } : null;
      },
    });
    queue.recover();
    while (order.filter((id) => id === large).length < 4) await Bun.sleep(1);
    expect(order.slice(0, 2)).toEqual([large, small]);
    expect(queue.stalled()).toEqual(["disk_full"]);
    isFull = false;
    while (queue.stalled().length > 0) await Bun.sleep(1);
    const { length } = order;
    await Bun.sleep(10);
    expect(order).toHaveLength(length);
    expect(waits).toEqual(waits.map((_, index) => index + 1));
    await queue.stop();
  });

  test("no longer reports a recording as stalled a minute after it resumed", async () => {
    create();
    const ends = Promise.withResolvers<null>();
    let [tries, minutes] = [0, 0];
    const queue = queueWith({
      now: () => Date.now() + minutes * 60_000,
      retryMilliseconds: () => 1,
      process: async () => (++tries < 3 ? { waitsFor: "disk_full" } : ends.promise),
    });
    queue.recover();
    while (tries < 3) await Bun.sleep(1);
    expect(queue.stalled()).toEqual(["disk_full"]);
    minutes = 1;
    expect(queue.stalled()).toEqual([]);
    ends.resolve(null);
    await queue.stop();
  });

  test("does not report a recording as stalled while its retry waits for a slot", async () => {
    const ids = [create(), create()];
    const running = new Map<string, PromiseWithResolvers<null>>();
    let [isFull, minutes] = [true, 0];
    const queue = queueWith({
      now: () => Date.now() + minutes * 60_000,
      retryMilliseconds: () => 1,
      process: (id) => {
        if (isFull) return Promise.resolve({ waitsFor: "disk_full" as const });
        const recording = Promise.withResolvers<null>();
        running.set(id, recording);
        return recording.promise;
      },
    });
    queue.recover();
    while (queue.stalled().length < ids.length) await Bun.sleep(1);
    isFull = false;
    while (running.size === 0) await Bun.sleep(1);
    await Bun.sleep(20);
    expect(queue.stalled()).toEqual(["disk_full"]);
    minutes = 1;
    expect(queue.stalled()).toEqual([]);
    expect(running.size).toBe(1);
    for (const id of ids) {
      while (!running.has(id)) await Bun.sleep(1);
      running.get(id)?.resolve(null);
    }
    await queue.stop();
  });

  test("reports a fault of the program and retries the recording", async () => {
    const id = create();
    const faults: unknown[] = [];
    let tries = 0;
    const queue = queueWith({
      retryMilliseconds: () => 1,
      onFault: (recordingId, error) => faults.push([recordingId, error]),
      process: async () => {
        tries += 1;
        if (tries < 3) throw new Error("a fault");
        return null;
      },
    });
    queue.recover();
    while (tries < 3) await Bun.sleep(1);
    expect(faults).toEqual([
      [id, new Error("a fault")],
      [id, new Error("a fault")],
    ]);
    await queue.stop();
  });

  test("leaves stalled recordings unchanged when it stops", async () => {
    create();
    let tries = 0;
    const queue = queueWith({
      retryMilliseconds: () => 5,
      process: async () => {
        tries += 1;
        return { waitsFor: "read_only" };
      },
    });
    queue.recover();
    while (queue.stalled().length === 0) await Bun.sleep(1);
    await queue.stop();
    const before = tries;
    await Bun.sleep(20);
    expect(tries).toBe(before);
  });

  test("aborts what runs when it stops, waits for it, and starts nothing more", async () => {
    const ids = [create(), create()];
    const seen: string[] = [];
    let ended = false;
    const queue = queueWith({
      process: async (id, signal) => {
        seen.push(id);
        while (!signal.aborted) await Bun.sleep(1);
        await Bun.sleep(10);
        ended = true;
        return null;
      },
    });
    queue.recover();
    await Bun.sleep(5);
    await queue.stop();
    expect(ended).toBe(true);
    expect(seen).toEqual(ids.slice(0, 1));
  });

  test("abandons work that does not end when it stops, and ignores its later failure", async () => {
    create();
    const left = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const queue = queueWith({
      stopMilliseconds: 20,
      onFault: (id, error) => reasons.push(id, error),
      process: async (_id, signal) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        await left.promise;
        throw new Error("the database is closed");
      },
    });
    queue.recover();
    await Bun.sleep(5);
    await queue.stop();
    left.resolve();
    await Bun.sleep(5);
    expect(reasons).toEqual([expect.objectContaining({ name: "SuspendError", graceMilliseconds: 16 })]);
  });

  /** A queue whose recordings run until they are aborted or are in `finished`. */
  const startQueue = (slots: number, priorities: Readonly<Record<string, number>> = {}, watchMilliseconds = 5) => {
    const started: string[] = [];
    const finished = new Set<string>();
    const reasons: Record<string, string> = {};
    const queue = queueWith({
      slots,
      priorityOf: (account) => priorities[account] ?? 0,
      watchMilliseconds,
      process: async (id, signal) => {
        started.push(id);
        while (!signal.aborted && !finished.has(id)) await Bun.sleep(1);
        if (signal.aborted) reasons[id] = (signal.reason as Error).name;
        return null;
      },
    });
    return { queue, started, finished, reasons };
  };

  test("serves accounts round robin after a start, higher priorities first", async () => {
    const other = createAccount(store, "other", { actor: "operator", now: 1 }).id;
    const urgent = createAccount(store, "urgent", { actor: "operator", now: 1 }).id;
    const [a1 = "", a2 = "", a3 = ""] = [create(), create(), create()];
    const b1 = create(other);
    const c1 = create(urgent);
    // The periodic check would suspend a2 for b2, sometimes before c1 ends. One more slot, with a3 in it, avoids that.
    const { queue, started, finished } = startQueue(3, { [urgent]: 1 }, 3_600_000);
    queue.recover();
    while (started.length < 3) await Bun.sleep(1);
    expect(started).toEqual([c1, a1, b1]);
    finished.add(b1);
    while (started.length < 4) await Bun.sleep(1);
    const b2 = create(other);
    queue.add(recordings.get(b2) ?? missing());
    finished.add(c1);
    while (started.length < 5) await Bun.sleep(1);
    expect(started).toEqual([c1, a1, b1, a2, b2]);
    expect(recordings.get(a3)?.status).toBe("queued");
    await queue.stop();
  });

  test("aborts a running recording that a command ended, and gives its slot to the next", async () => {
    const [cancelled = "", deleted = "", next = "", last = ""] = [create(), create(), create(), create()];
    const { queue, started, reasons } = startQueue(2);
    queue.recover();
    while (started.length < 2) await Bun.sleep(1);
    recordings.claim(cancelled);
    recordings.fail(cancelled, { reason: "internal", cause: "cancelled" });
    while (started.length < 3) await Bun.sleep(1);
    expect([started[2], reasons]).toEqual([next, { [cancelled]: "RecordingEndedError" }]);
    store.$client.run("DELETE FROM recordings WHERE id = ?", [deleted]);
    while (started.length < 4) await Bun.sleep(1);
    expect([started[3], reasons[deleted]]).toEqual([last, "RecordingEndedError"]);
    await queue.stop();
    expect(reasons[last]).toBe("SuspendError");
  });
});
