import { beforeEach, describe, expect, test } from "bun:test";
import { createAccount } from "../../src/accounts/index.ts";
import { RecordingQueue } from "../../src/queue/index.ts";
import { openDatabase } from "../../src/storage/index.ts";
import { Recordings } from "../../src/transcriptions/index.ts";
import { newRecording } from "../support/new-recording.ts";

const priorityOf = () => 0;
const now = Date.now;
const missing = () => {
  throw new Error("the recording is not there");
};

describe("the queue", () => {
  let recordings: Recordings;
  let accountId: string;
  const create = () => {
    const id = Bun.randomUUIDv7();
    return recordings.create(newRecording(id, accountId)).id;
  };
  beforeEach(() => {
    const store = openDatabase(":memory:");
    recordings = new Recordings(store, Date.now);
    accountId = createAccount(store, "acme", { actor: "operator", now: 1 }).id;
  });

  test("processes as many at once as there are slots, and all in the end", async () => {
    let running = 0;
    let most = 0;
    const done: string[] = [];
    const ids = Array.from({ length: 12 }, create);
    const queue = new RecordingQueue({
      ...{ recordings, priorityOf, now },
      slots: 5,
      process: async (id) => {
        running += 1;
        most = Math.max(most, running);
        await Bun.sleep(2);
        running -= 1;
        done.push(id);
      },
    });
    queue.recover();
    while (done.length < 12) await Bun.sleep(1);
    expect(most).toBe(5);
    expect(done.toSorted()).toEqual(ids.toSorted());
  });

  test("takes up what a dead server was processing before what waited", async () => {
    const ids = [create(), create(), create()];
    recordings.claim(ids[1] ?? "");
    const order: string[] = [];
    const queue = new RecordingQueue({
      recordings,
      priorityOf,
      now,
      slots: 1,
      process: async (id) => void order.push(id),
    });
    expect(queue.recover()).toBe(3);
    while (order.length < 3) await Bun.sleep(1);
    expect(order).toEqual([ids[1] ?? "", ids[0] ?? "", ids[2] ?? ""]);
    expect(recordings.get(ids[1] ?? "")?.status).toBe("queued");
  });

  test("does not process a recording twice that is added twice", async () => {
    const id = create();
    const seen: string[] = [];
    const queue = new RecordingQueue({
      recordings,
      priorityOf,
      now,
      slots: 2,
      process: async (each) => void seen.push(each),
    });
    queue.recover();
    queue.add(recordings.get(id) ?? missing());
    await queue.stop();
    expect(seen).toEqual([id]);
  });

  test("that stops tells what runs, waits for it, and begins nothing more", async () => {
    const ids = [create(), create()];
    const seen: string[] = [];
    let ended = false;
    const queue = new RecordingQueue({
      ...{ recordings, priorityOf, now },
      slots: 1,
      process: async (id, signal) => {
        seen.push(id);
        while (!signal.aborted) await Bun.sleep(1);
        await Bun.sleep(10);
        ended = true;
      },
    });
    queue.recover();
    await Bun.sleep(5);
    await queue.stop();
    expect(ended).toBe(true);
    expect(seen).toEqual(ids.slice(0, 1));
  });
});
