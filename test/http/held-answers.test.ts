import { describe, expect, test } from "bun:test";
import pino from "pino";
import { HeldAnswers, MAX_HELD_BYTES } from "../../src/http/shared/held-answers.ts";
import { contextOf, heldBody } from "../../src/http/shared/request-context.ts";

const MIB = 1024 * 1024;

/** Answers of addresses whose clients read nothing, until a test closes their connections. */
function held() {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => void log.push(JSON.parse(line)) });
  const clock = { now: 1_000_000 };
  const answers = new HeldAnswers({ log: logger, now: () => clock.now });
  const open = { isOpen: true };
  const answer = (address: string, bytes: number) => {
    const request = new Request("http://127.0.0.1/");
    const context = contextOf(request);
    context.client = { ...context.client, addressGroup: address };
    context.connection = { isOpen: () => open.isOpen, cut() {} };
    heldBody(request, new Uint8Array(bytes));
    const refusal = answers.refusalOf(request);
    return refusal === null ? null : [refusal.code, refusal.details.headers?.["Retry-After"]];
  };
  return { answer, open, clock, log };
}

describe("answers that nobody reads", () => {
  test("take at most 16 MiB of an owner, and leave space for another", () => {
    const { answer, open } = held();
    for (let count = 0; count < 4; count++) expect(answer("a", 4 * MIB)).toBeNull();
    expect(answer("a", MIB)).toEqual(["rate_limited", expect.stringMatching(/^\d+$/)]);
    expect(answer("a", 1024)).toBeNull();
    expect(answer("b", 4 * MIB)).toBeNull();
    open.isOpen = false;
    expect(answer("a", 4 * MIB)).toBeNull();
  });

  test("take at most 128 MiB in all, until the deadline of the first", () => {
    const { answer, clock } = held();
    for (let count = 0; count < 32; count++) expect(answer(`owner-${count}`, 4 * MIB)).toBeNull();
    const [code, seconds] = answer("another", MIB) ?? [];
    expect(code).toBe("rate_limited");
    clock.now += Number(seconds) * 1000;
    expect(answer("another", MIB)).toBeNull();
  });

  test("are never larger than 4 MiB: such an answer is a fault of the server, which it logs", () => {
    const { answer, log } = held();
    expect(answer("a", MAX_HELD_BYTES)).toBeNull();
    expect(answer("a", MAX_HELD_BYTES + 1)?.[0]).toBe("internal_error");
    expect(log).toMatchObject([{ event: "http.answer_too_large", bytes: MAX_HELD_BYTES + 1 }]);
  });
});
