import { expect, setDefaultTimeout, test } from "bun:test";
import { randomNumbers } from "../../harness/random-numbers.ts";
import {
  FenceError,
  type LeaseRecord,
  type LeaseRegister,
  ReplacedError,
  ServingLease,
  StillServesError,
} from "../../src/standby/index.ts";
import { createLogger } from "../../src/telemetry/index.ts";
import { clock } from "./leases.ts";

setDefaultTimeout(60_000);

/** Short, so that thousands of renewals fit into a test. No result depends on it. */
const LEASE_MILLISECONDS = 40;
const DURATION_MILLISECONDS = 4000;
const log = createLogger("silent");

/** A register in this process that answers late, loses answers, can't be reached, and forgets. */
class UnreliableRegister {
  readonly #random: () => number;
  #record: LeaseRecord | null = null;
  #version = 0;
  writes = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  forget(): void {
    this.#record = null;
    this.#version++;
  }

  /** Returns the register as one machine sees it. @param isCut whether the machine can't reach it now */
  seenBy(isCut: () => boolean): LeaseRegister {
    return {
      forgets: true,
      identify: async () => "test",
      read: async () => {
        await this.#delay(isCut);
        const found = { record: this.#record, version: String(this.#version) };
        await this.#delay(isCut);
        return found;
      },
      replace: async (version, record) => {
        await this.#delay(isCut);
        const isCurrent = version === String(this.#version);
        if (isCurrent) {
          this.#record = record;
          this.#version++;
          this.writes++;
        }
        const written = isCurrent ? String(this.#version) : null;
        await this.#delay(isCut);
        return written;
      },
      close: async () => {},
    };
  }

  /** Mostly short; sometimes longer than a lease, as for a process that is stopped and resumed. */
  async #delay(isCut: () => boolean): Promise<void> {
    const kind = this.#random();
    if (kind < 0.02) await Bun.sleep(LEASE_MILLISECONDS * (1 + 2 * this.#random()));
    else if (kind < 0.5) await Bun.sleep(1);
    if (isCut() || kind > 0.98) throw new FenceError("no answer");
  }
}

test("no two of several servers ever hold a lease at the same time, whatever the register and the processes do", async () => {
  const random = randomNumbers(1);
  const register = new UnreliableRegister(random);
  const ends = performance.now() + DURATION_MILLISECONDS;
  /** By owner: a directory is locked, so it has one process. */
  const running = new Map<number, ServingLease>();
  const cut = new Set<number>();
  let epoch = 1;
  let [held, both] = [0, 0];
  const check = () => {
    const holders = [...running.values()].filter(({ isHeld }) => isHeld).length;
    if (holders > 0) held++;
    if (holders > 1) both++;
  };
  const watch = setInterval(check, 1);

  /** Serves again and again: sometimes by a promotion, until it is replaced, killed, or stopped in order. */
  const live = async (owner: number) => {
    let own = 1;
    while (performance.now() < ends) {
      if (random() < 0.4) own = ++epoch;
      const lease = new ServingLease({
        register: register.seenBy(() => cut.has(owner)),
        holder: { owner: String(owner).padStart(32, "0"), host: `host-${owner}`, epoch: own },
        milliseconds: LEASE_MILLISECONDS,
        clock,
        log,
      });
      running.set(owner, lease);
      let isReplaced = false;
      try {
        const isHeld = await Promise.race([
          lease.acquire({ persists: true }).then(() => true),
          Bun.sleep(10 * LEASE_MILLISECONDS).then(() => false),
        ]);
        check();
        if (isHeld) {
          lease.keep();
          void lease.replaced.then(() => (isReplaced = true));
          const until = performance.now() + 4 * LEASE_MILLISECONDS * random();
          while (performance.now() < until && !isReplaced) await Bun.sleep(1);
        }
      } catch (error) {
        if (!(error instanceof ReplacedError || error instanceof StillServesError)) throw error;
      }
      check();
      // A stop in order. A killed process writes nothing more, which a cut shows as well.
      if (random() < 0.5) cut.add(owner);
      await lease.release();
      running.delete(owner);
      cut.delete(owner);
    }
  };
  const forget = setInterval(() => {
    if (random() < 0.1) register.forget();
  }, LEASE_MILLISECONDS / 2);
  await Promise.all([1, 2, 3, 4].map(live));
  clearInterval(watch);
  clearInterval(forget);
  expect(both).toBe(0);
  expect(held).toBeGreaterThan(100);
  expect(register.writes).toBeGreaterThan(200);
});

test("a lease lapses while the register does not answer, and its end does not wait for it", async () => {
  const register = new UnreliableRegister(() => 0.6);
  const answers = register.seenBy(() => false);
  let hangs = false;
  const lease = new ServingLease({
    register: { ...answers, read: () => (hangs ? new Promise(() => {}) : answers.read()) },
    holder: { owner: "0".repeat(32), host: "a", epoch: 1 },
    milliseconds: LEASE_MILLISECONDS,
    clock,
    log,
  });
  await lease.acquire({ persists: true });
  const lapsed = Promise.withResolvers<boolean>();
  lease.onChange((isHeld) => lapsed.resolve(!isHeld));
  lease.keep();
  hangs = true;
  expect(await lapsed.promise).toBe(true);
  expect(() => lease.check()).toThrow("it can't renew its lease");
  await lease.release();
});

test("a clock that is set ends no lease for longer than the next renewal needs, and lengthens none", async () => {
  const register = new UnreliableRegister(() => 0.6);
  let offset = 0;
  const milliseconds = 60_000;
  const lease = new ServingLease({
    register: { ...register.seenBy(() => false), forgets: false },
    holder: { owner: "0".repeat(32), host: "a", epoch: 1 },
    milliseconds,
    clock: { ...clock, wall: () => Date.now() + offset },
    log,
  });
  await lease.acquire({ persists: true });
  const changes = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()];
  let count = 0;
  lease.onChange((isHeld) => changes[count++]?.resolve(isHeld));
  lease.keep();
  // The first renewal begins at once.
  while (register.writes < 2) await Bun.sleep(1);
  await Bun.sleep(20);
  offset = -3_600_000;
  expect(lease.remaining).toBeLessThanOrEqual(milliseconds);
  expect(lease.isHeld).toBe(true);
  // The next renewal would be 15 s later.
  offset = 3_600_000;
  const writes = register.writes;
  expect([await changes[0]?.promise, await changes[1]?.promise]).toEqual([false, true]);
  expect(register.writes).toBe(writes + 1);
  await lease.release();
});
