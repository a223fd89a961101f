import { describe, expect, test } from "bun:test";
import { type Attempter, Attempts } from "../../../src/console/server/attempts.ts";
import { ConsoleError } from "../../../src/console/server/errors.ts";
import { clientAt } from "../../support/http.ts";

const minute = 60_000;
const stranger = (address: string): Attempter => ({ client: clientAt(address), device: null, user: null });
const known = (device: string, address = "198.51.100.1"): Attempter => ({ ...stranger(address), device });

/** Attempts with a wrong password, on a clock that a test sets. */
class Attacked {
  now = 1_000_000;
  readonly attempts = new Attempts(() => this.now);

  /** @returns whether the password was checked */
  async isChecked(who: Attempter): Promise<boolean> {
    try {
      await this.attempts.check(who, async () => false);
      return true;
    } catch (error) {
      if (error instanceof ConsoleError && error.code === "too_many_attempts") return false;
      throw error;
    }
  }

  /** Attempts from different networks. @returns the number of checked passwords */
  async fromNetworks(count: number): Promise<number> {
    let checked = 0;
    for (let network = 0; network < count; network++) {
      if (await this.isChecked(stranger(`2001:db8:${network.toString(16)}::1`))) checked += 1;
    }
    return checked;
  }
}

describe("the operator's password", () => {
  test("can't be locked by ten addresses that use up their attempts", async () => {
    const attacked = new Attacked();
    for (let quarter = 0; quarter < 8; quarter++) {
      let checked = 0;
      for (let attempt = 0; attempt < 200; attempt++) {
        if (await attacked.isChecked(stranger(`198.51.100.${attempt % 10}`))) checked += 1;
      }
      expect(checked).toBe(100);
      expect(await attacked.isChecked(stranger("203.0.113.1"))).toBe(true);
      attacked.now += 15 * minute;
    }
  });

  test("is attempted by all strangers together a thousand times an hour, and by no more", async () => {
    const attacked = new Attacked();
    expect(await attacked.fromNetworks(1200)).toBe(1000);
    attacked.now += 60 * minute - 1;
    expect(await attacked.isChecked(stranger("203.0.113.1"))).toBe(false);
    attacked.now += 1;
    expect(await attacked.isChecked(stranger("203.0.113.1"))).toBe(true);
  });

  test("is attempted ten times in a quarter of an hour from one network, whichever of its addresses is used", async () => {
    const attacked = new Attacked();
    let checked = 0;
    for (let host = 0; host < 50; host++) {
      if (await attacked.isChecked(stranger(`2001:db8::${host.toString(16)}`))) checked += 1;
    }
    expect(checked).toBe(10);
  });

  const reserved: [string, Attempter][] = [
    ["a device that was signed in before", known("one")],
    ["this machine", stranger("127.0.0.1")],
    ["this machine over IPv6", stranger("::1")],
  ];
  test.each(reserved)("is checked for %s, however many attempts strangers have used up", async (_, who) => {
    const attacked = new Attacked();
    await attacked.fromNetworks(1000);
    for (let attempt = 0; attempt < 10; attempt++) expect(await attacked.isChecked(who)).toBe(true);
    expect(await attacked.isChecked(who)).toBe(false);
    expect(await attacked.isChecked(known("other"))).toBe(true);
  });

  test("counts a client of a proxy on this machine as a stranger", async () => {
    const attacked = new Attacked();
    await attacked.fromNetworks(1000);
    expect(
      await attacked.isChecked({ ...stranger("127.0.0.1"), client: clientAt("127.0.0.1", { via: "1.1 proxy" }) }),
    ).toBe(false);
  });

  test("is checked one attempt at a time, and waiting strangers leave a place for a known device", async () => {
    const attempts = new Attempts(Date.now);
    const gate = Promise.withResolvers<void>();
    let running = 0;
    let most = 0;
    const check = async () => {
      running += 1;
      most = Math.max(most, running);
      await gate.promise;
      running -= 1;
      return false;
    };
    const outcome = (who: Attempter) => attempts.check(who, check).catch((error: Error) => error.name);
    const strangers = Array.from({ length: 50 }, (_, at) => outcome(stranger(`198.51.100.${at}`)));
    const device = outcome(known("one"));
    gate.resolve();
    expect((await Promise.all(strangers)).filter((each) => each === false)).toHaveLength(4);
    expect(await device).toBe(false);
    expect(most).toBe(1);
  });
});
