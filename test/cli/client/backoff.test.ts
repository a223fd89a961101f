import { expect, test } from "bun:test";
import { ClientError } from "../../../src/cli/client/request.ts";
import { Backoff } from "../../../src/cli/client/retries.ts";
import { TestClock } from "./support.ts";

const refused = (status: number | null, code: string, retryAfterSeconds: number | null = null) =>
  new ClientError("no", code, status, retryAfterSeconds);

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
  [null, "tls_failed"],
  [null, "bad_answer"],
])("a request that is answered with %p %s is not repeated", (status, code) => {
  expect(new Backoff(new TestClock(), 600).after(refused(status, code))).toBeNull();
});

test("after 429 the client waits exactly as long as the server asks for, each time", () => {
  const backoff = new Backoff(new TestClock(), 600);
  for (const seconds of [1, 30, 7200, 86_400, 3]) {
    const pause = backoff.after(refused(429, "rate_limited", seconds));
    expect(pause).toEqual({ reason: "rate", milliseconds: seconds * 1000 });
  }
});

test("the client waits for a place of the account without a limit, in pauses that double up to half a minute", () => {
  const clock = new TestClock();
  const backoff = new Backoff(clock, 600);
  const pauses = Array.from({ length: 100 }, () => {
    const pause = backoff.after(refused(409, "concurrency_limit"));
    void clock.sleep(pause?.milliseconds ?? Number.NaN, new AbortController().signal);
    return (pause?.milliseconds ?? 0) / 1000;
  });
  expect(pauses.slice(0, 5)).toEqual([5, 10, 20, 30, 30]);
  expect(clock.now()).toBeGreaterThan(600_000);
});

test("5xx and lost connections are retried with doubling pauses for ten minutes", () => {
  const clock = new TestClock();
  const backoff = new Backoff(clock, 600);
  const pauses: number[] = [];
  for (;;) {
    const pause = backoff.after(refused(500, "internal_error"));
    if (pause === null) break;
    pauses.push(pause.milliseconds / 1000);
    void clock.sleep(pause.milliseconds, new AbortController().signal);
  }
  expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeWithin(600, 670);
});

test("after 503 the client waits at least as long as the server asks for", () => {
  const backoff = new Backoff(new TestClock(), 600);
  expect(backoff.after(refused(503, "service_unavailable", 10))).toEqual({ reason: "server", milliseconds: 10_000 });
});

test("jitter shortens a pause by at most half", () => {
  const clock = Object.assign(new TestClock(), { random: () => 0 });
  expect(new Backoff(clock, 600).after(refused(null, "no_answer"))).toEqual({ reason: "server", milliseconds: 500 });
});
