import { expect, test } from "bun:test";
import { ApiError, NoAnswerError, type Pause } from "../../sdk/typescript/src/index.ts";
import { Backoff } from "../../sdk/typescript/src/retries.ts";
import { TestClock } from "../support/cli-client.ts";

const refused = (status: number, code: string, retryAfterSeconds: number | null = null) =>
  new ApiError({
    ...{ status, message: "no", requestId: null, errors: {}, required: null, retryAfterSeconds },
    code: code as ApiError["code"],
  });
const lost = new NoAnswerError("no", true);
const waitsForLimits = true;

/** Returns the pauses in seconds after one error, at most `count`. */
function pausesAfter(error: Error, backoff: Backoff, clock: TestClock, count = 100): number[] {
  const pauses: number[] = [];
  while (pauses.length < count) {
    const pause = backoff.after(error);
    if (pause === null) break;
    pauses.push(pause.milliseconds / 1000);
    void clock.sleep(pause.milliseconds, undefined);
  }
  return pauses;
}

const factsOf = (pause: Pause | null) => pause && { reason: pause.reason, milliseconds: pause.milliseconds };

test.each([
  [400, "bad_request"],
  [401, "invalid_api_key"],
  [403, "insufficient_scope"],
  [404, "not_found"],
  [405, "method_not_allowed"],
  [409, "idempotency_key_reused"],
  [409, "transcription_is_not_ready"],
  [409, "transcription_still_processing"],
  [413, "file_too_large"],
  [422, "validation_failed"],
  [422, "playlist_not_acceptable"],
])("a request that is answered with %p %s is not repeated", (status, code) => {
  expect(new Backoff(new TestClock(), 600, waitsForLimits).after(refused(status, code))).toBeNull();
});

test("a request without an answer is repeated only if the failure may pass", () => {
  const backoff = new Backoff(new TestClock(), 600, false);
  expect(backoff.after(new NoAnswerError("untrusted", false))).toBeNull();
  expect(backoff.after(new TypeError("no network error"))).toBeNull();
  expect(factsOf(backoff.after(lost))).toEqual({ reason: "server", milliseconds: 1000 });
});

test("a client that waits for limits waits after 429 exactly as long as the server asks for, each time", () => {
  const backoff = new Backoff(new TestClock(), 600, waitsForLimits);
  for (const seconds of [1, 30, 7200, 86_400, 3]) {
    const pause = backoff.after(refused(429, "rate_limited", seconds));
    expect(factsOf(pause)).toEqual({ reason: "rate", milliseconds: seconds * 1000 });
  }
});

test("a client that waits for limits waits for a place without end, in pauses that double up to half a minute", () => {
  const clock = new TestClock();
  const backoff = new Backoff(clock, 600, waitsForLimits);
  const pauses = pausesAfter(refused(409, "concurrency_limit"), backoff, clock);
  expect(pauses.slice(0, 5)).toEqual([5, 10, 20, 30, 30]);
  expect(pauses).toHaveLength(100);
});

test.each([
  [429, "rate_limited"],
  [409, "concurrency_limit"],
  [409, "idempotency_request_in_progress"],
  [500, "internal_error"],
])("any other client retries after %p %s for exactly its time", (status, code) => {
  const clock = new TestClock();
  const pauses = pausesAfter(refused(status, code), new Backoff(clock, 600, false), clock);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(600);
});

test("5xx and lost connections are retried with doubling pauses for ten minutes after the first failure", () => {
  const clock = new TestClock();
  const backoff = new Backoff(clock, 600, waitsForLimits);
  // An upload that took an hour before it failed.
  void clock.sleep(3_600_000, undefined);
  const pauses = pausesAfter(lost, backoff, clock);
  expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBe(600);
});

test("the pauses begin again with another failure, and the time for retries does not", () => {
  const clock = new TestClock();
  const backoff = new Backoff(clock, 10, false);
  expect(pausesAfter(lost, backoff, clock, 2)).toEqual([1, 2]);
  expect(pausesAfter(refused(500, "internal_error"), backoff, clock)).toEqual([1, 2, 4]);
});

test("after 503 the client waits at least as long as the server asks for, or not at all", () => {
  const backoff = new Backoff(new TestClock(), 20, waitsForLimits);
  const pause = backoff.after(refused(503, "service_unavailable", 10));
  expect(factsOf(pause)).toEqual({ reason: "server", milliseconds: 10_000 });
  expect(backoff.after(refused(503, "service_unavailable", 21))).toBeNull();
});

test("jitter shortens a pause by at most half", () => {
  const clock = Object.assign(new TestClock(), { random: () => 0 });
  expect(factsOf(new Backoff(clock, 600, false).after(lost))).toEqual({ reason: "server", milliseconds: 500 });
});
