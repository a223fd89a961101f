import { describe, expect, test } from "bun:test";
import { ApiError } from "../../src/http/shared/errors.ts";
import { OpenAnswers } from "../../src/http/shared/open-answers.ts";

/** A connection that a test closes, or that is cut. */
class TestConnection {
  cuts = 0;
  #isOpen = true;

  isOpen(): boolean {
    return this.#isOpen;
  }

  cut(): void {
    this.cuts++;
  }

  close(): void {
    this.#isOpen = false;
  }
}

/** At most two answers per owner, on a clock that a test sets. */
function opened() {
  const clock = { now: 1_000_000 };
  const answers = new OpenAnswers({ perOwner: 2, inAll: 3, refusal: "Read them." }, () => clock.now);
  const open = (owner = "acme", ending: Parameters<typeof answers.open>[2] = {}) => {
    const connection = new TestConnection();
    return { connection, answer: answers.open(owner, connection, ending) };
  };
  return { clock, answers, open, [Symbol.dispose]: () => answers.close() };
}

/** Returns the seconds after which a retry succeeds. */
function retryAfter(act: () => unknown): number {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError && error.code === "rate_limited")
      return Number(error.details.headers?.["Retry-After"]);
    throw error;
  }
  return 0;
}

describe("large answers", () => {
  test("of one owner are bounded, and do not count for another owner", () => {
    using all = opened();
    all.open();
    all.open();
    expect([retryAfter(() => all.open()), retryAfter(() => all.open("other"))]).toEqual([60, 0]);
  });

  test.each([
    ["its answer has ended", ({ connection }) => connection.close()],
    ["there is no answer", ({ answer }) => answer.close()],
  ] satisfies [string, (one: ReturnType<ReturnType<typeof opened>["open"]>) => void][])(
    "free their place as soon as %s",
    (_, end) => {
      using all = opened();
      const first = all.open();
      all.open();
      end(first);
      expect([retryAfter(() => all.open()), retryAfter(() => all.open())]).toEqual([0, 60]);
    },
  );

  test("are cut when they take longer than a minute and 16 KiB a second, and a retry succeeds after Retry-After", () => {
    using all = opened();
    const ended: string[] = [];
    const small = all.open("acme", { onEnd: () => ended.push("small") });
    const large = all.open("acme", { onEnd: () => ended.push("large") });
    small.answer.send(16 * 1024);
    large.answer.send(1024 * 1024);
    const seconds = retryAfter(() => all.open());
    expect(seconds).toBe(61);
    all.clock.now += seconds * 1000 - 1;
    all.answers.check();
    expect([ended, small.connection.cuts]).toEqual([[], 0]);
    all.clock.now += 1;
    expect(retryAfter(() => all.open())).toBe(0);
    expect([ended, small.connection.cuts, large.connection.cuts]).toEqual([["small"], 1, 0]);
    all.clock.now += 63_000;
    all.answers.check();
    expect([ended, large.connection.cuts]).toEqual([["small", "large"], 1]);
  });

  test("name the time at which enough of them have ended, and not that of the first", () => {
    using all = opened();
    all.open().answer.send(16 * 1024);
    all.open("other").answer.send(64 * 1024);
    all.open("other").answer.send(1024 * 1024);
    const needed = (weight: number) => retryAfter(() => all.open("acme", { weight }));
    expect([needed(1), needed(2)]).toEqual([61, 64]);
  });

  test.each([
    ["sent are cut", true, 1],
    ["prepared end, without a cut,", false, 0],
  ])("end while they are being %s when they are no longer needed", (_, isSent, cuts) => {
    using all = opened();
    let isWanted = true;
    let ends = 0;
    const { connection, answer } = all.open("acme", { isWanted: () => isWanted, onEnd: () => ends++ });
    if (isSent) answer.send(1);
    all.answers.check();
    expect([ends, connection.cuts]).toEqual([0, 0]);
    isWanted = false;
    all.answers.check();
    all.answers.check();
    answer.close();
    expect([ends, connection.cuts]).toEqual([1, cuts]);
  });

  test("in preparation end at once when the client has disconnected", () => {
    using all = opened();
    let ends = 0;
    const { connection } = all.open("acme", { onEnd: () => ends++ });
    connection.close();
    all.answers.check();
    expect(ends).toBe(1);
  });
});
