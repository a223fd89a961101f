import { beforeEach, describe, expect, test } from "bun:test";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { createAccount, deleteAccount } from "../../src/accounts/index.ts";
import { openDatabase, type Store } from "../../src/database/index.ts";
import { createWindows, Usage } from "../../src/usage/index.ts";

const { hour, day } = createWindows;
const by = { actor: "operator", now: 1 };
const noon = Date.parse("2026-11-21T12:00:00Z");
const midnight = Date.parse("2026-11-22T00:00:00Z");

let store: Store;
let usage: Usage;
let account: string;
beforeEach(() => {
  store = openDatabase(":memory:");
  usage = new Usage(store);
  account = createAccount(store, "acme", by).id;
});

describe("creates of an account", () => {
  const perHour = (limit: number) => ({ limit, windowMilliseconds: hour });

  test("count within a sliding window, to the millisecond", () => {
    for (const minutes of [0, 10, 20]) usage.spendCreate(store, account, noon + minutes * 60_000);
    const cases: [number, number, { remaining: number; retryMilliseconds: number }][] = [
      [4, 30 * 60_000, { remaining: 1, retryMilliseconds: 0 }],
      [3, 30 * 60_000, { remaining: 0, retryMilliseconds: 30 * 60_000 }],
      [2, 30 * 60_000, { remaining: 0, retryMilliseconds: 40 * 60_000 }],
      [1, 30 * 60_000, { remaining: 0, retryMilliseconds: 50 * 60_000 }],
      [0, 30 * 60_000, { remaining: 0, retryMilliseconds: hour }],
      [3, hour - 1, { remaining: 0, retryMilliseconds: 1 }],
      [3, hour, { remaining: 1, retryMilliseconds: 0 }],
      [3, 3 * hour, { remaining: 3, retryMilliseconds: 0 }],
    ];
    for (const [limit, later, state] of cases) {
      expect([limit, later, usage.creates(account, perHour(limit), noon + later)]).toEqual([limit, later, state]);
    }
  });

  test("are deleted after a day, and no sooner", () => {
    usage.spendCreate(store, account, noon);
    const perDay = { limit: 1, windowMilliseconds: day };
    usage.spendCreate(store, createAccount(store, "other", by).id, noon + day - 1);
    expect(usage.creates(account, perDay, noon + day - 1)).toEqual({ remaining: 0, retryMilliseconds: 1 });
    expect(usage.creates(account, perDay, noon + day).remaining).toBe(1);
    usage.spendCreate(store, account, noon + day);
    expect(store.$client.query("SELECT count(*) AS rows FROM creates").get()).toEqual({ rows: 2 });
  });
});

describe("audio of an account", () => {
  const process = (id: string, seconds: number, allowance: number, now: number, of = account) => {
    return usage.admit(of, id, allowance, now) && usage.chargeAudio(id, seconds, allowance);
  };

  test("a recording is admitted while any allowance is left, even if it needs more; the next one is refused", () => {
    expect(process("a", 50, 100, noon)).toBe(true);
    expect(process("b", 500, 100, noon)).toBe(true);
    expect(usage.audioSeconds(account, noon)).toBe(550);
    expect(process("c", 1, 100, noon)).toBe(false);
    expect(usage.audioSeconds(account, noon)).toBe(550);
  });

  test("nothing is admitted after the allowance is spent exactly, or without an allowance", () => {
    expect(process("a", 100, 100, noon)).toBe(true);
    expect(process("b", 1, 100, noon)).toBe(false);
    expect(process("b", 1, 100.5, noon)).toBe(true);
    expect(process("c", 1, 0, noon + day)).toBe(false);
  });

  test("an admitted recording continues after a restart, whatever was spent meanwhile, and is charged once", () => {
    expect(process("a", 60, 100, noon)).toBe(true);
    expect(process("b", 100, 100, noon)).toBe(true);
    expect(process("a", 60, 100, noon + hour)).toBe(true);
    expect(usage.audioSeconds(account, noon)).toBe(160);
  });

  test("of recordings that start together, each counts what earlier ones are charged by their container's duration", () => {
    const hours = (count: number) => count * 3600;
    const ids = ["a", "b", "c", "d", "e"];
    expect(ids.map((id) => usage.admit(account, id, hours(20), noon))).toEqual(ids.map(() => true));
    const charged = ids.map((id) => usage.chargeAudio(id, hours(18), hours(20)));
    expect(charged).toEqual([true, true, false, false, false]);
    expect(usage.audioSeconds(account, noon)).toBe(hours(36));
    expect(ids.map((id) => usage.chargeAudio(id, hours(18), hours(20)))).toEqual(ids.map(() => true));
    expect(usage.audioSeconds(account, noon)).toBe(hours(36));
  });

  test("a container that reports a second gains nothing: its true duration is checked against the other charges", () => {
    const ids = ["a", "b", "c"];
    for (const id of ids) expect(process(id, 1, 1000, noon)).toBe(true);
    expect(ids.map((id) => usage.chargeAudio(id, 5000, 1000))).toEqual([true, false, false]);
    expect(usage.audioSeconds(account, noon)).toBe(5000);
  });

  test("a slightly wrong container duration is corrected, although others have spent the rest meanwhile", () => {
    expect(process("a", 600, 1000, noon)).toBe(true);
    expect(process("b", 1000, 1000, noon)).toBe(true);
    expect(usage.chargeAudio("a", 720, 1000)).toBe(true);
    expect(usage.chargeAudio("b", 10, 1000)).toBe(true);
    expect(usage.audioSeconds(account, noon)).toBe(730);
  });

  test("the true duration counts on the day on which the recording was admitted", () => {
    expect(usage.admit(account, "a", 100, midnight - 1)).toBe(true);
    expect(process("b", 500, 100, midnight)).toBe(true);
    expect(usage.chargeAudio("a", 5000, 100)).toBe(true);
    expect(usage.audioSeconds(account, midnight - 1)).toBe(5000);
  });

  test("a refunded recording is not charged again", () => {
    process("a", 100, 1000, noon);
    usage.refundAudio("a");
    expect(usage.chargeAudio("a", 500, 1000)).toBe(true);
    expect(usage.audioSeconds(account, noon)).toBe(0);
  });

  test("days are UTC days, and a recording that runs over midnight belongs to the day of its start", () => {
    expect(process("a", 100, 100, midnight - 1)).toBe(true);
    expect(process("b", 1, 100, midnight - 1)).toBe(false);
    expect(process("c", 30, 100, midnight)).toBe(true);
    expect(process("a", 100, 100, midnight)).toBe(true);
    expect([usage.audioSeconds(account, midnight - 1), usage.audioSeconds(account, midnight)]).toEqual([100, 30]);
  });

  test("a service fault refunds the whole charge, once", () => {
    process("a", 100, 100, noon);
    usage.refundAudio("a");
    usage.refundAudio("a");
    usage.refundAudio("never begun");
    expect(usage.audioSeconds(account, noon)).toBe(0);
    expect(process("b", 1, 100, noon)).toBe(true);
  });

  test("usage is counted separately for each account and deleted with it", async () => {
    const other = createAccount(store, "other", by);
    process("a", 100, 100, noon);
    expect(process("b", 40, 100, noon, other.id)).toBe(true);
    expect([usage.audioSeconds(account, noon), usage.audioSeconds(other.id, noon)]).toEqual([100, 40]);
    await deleteAccount(store, other, by);
    expect(usage.audioSeconds(other.id, noon)).toBe(0);
  });

  test("usage and creates survive a restart", () => {
    using directory = temporaryDirectory();
    const path = `${directory.path}/transcribe.db`;
    const before = openDatabase(path);
    const { id } = createAccount(before, "acme", by);
    const spending = new Usage(before);
    spending.admit(id, "a", 100, noon);
    spending.chargeAudio("a", 100, 100);
    spending.spendCreate(before, id, noon);
    before.$client.close();
    const after = openDatabase(path);
    const read = new Usage(after);
    expect(read.admit(id, "b", 100, noon)).toBe(false);
    expect(read.creates(id, { limit: 1, windowMilliseconds: hour }, noon).remaining).toBe(0);
    after.$client.close();
  });
});
