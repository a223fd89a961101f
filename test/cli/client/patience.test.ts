import { expect, test } from "bun:test";
import { ClientError } from "../../../src/cli/client/client-error.ts";
import { Patience } from "../../../src/cli/client/patience.ts";
import { TestClock } from "./support.ts";

const refused = (status: number | null, code: string, retryAfterSeconds: number | null = null) =>
  new ClientError("no", { status, code, retryAfterSeconds });

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
])("%p %s is not tried again", (status, code) => {
  expect(new Patience(new TestClock(), 600).after(refused(status, code))).toBeNull();
});

test("429 waits exactly as long as the server says, however often and long", () => {
  const patience = new Patience(new TestClock(), 600);
  for (const seconds of [1, 30, 7200, 86_400, 3]) {
    const pause = patience.after(refused(429, "rate_limited", seconds));
    expect(pause).toEqual({ wait: "rate", milliseconds: seconds * 1000 });
  }
});

test("a place of the account is waited for without an end, in pauses that double up to half a minute", () => {
  const clock = new TestClock();
  const patience = new Patience(clock, 600);
  const pauses = Array.from({ length: 100 }, () => {
    const pause = patience.after(refused(409, "concurrency_limit"));
    void clock.sleep(pause?.milliseconds ?? Number.NaN, new AbortController().signal);
    return (pause?.milliseconds ?? 0) / 1000;
  });
  expect(pauses.slice(0, 5)).toEqual([5, 10, 20, 30, 30]);
  expect(clock.now()).toBeGreaterThan(600_000);
});

test("5xx and lost connections are tried again in doubling pauses, until it goes on for ten minutes", () => {
  const clock = new TestClock();
  const patience = new Patience(clock, 600);
  const pauses: number[] = [];
  for (;;) {
    const pause = patience.after(refused(500, "internal_error"));
    if (pause === null) break;
    pauses.push(pause.milliseconds / 1000);
    void clock.sleep(pause.milliseconds, new AbortController().signal);
  }
  expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect(pauses.reduce((sum, pause) => sum + pause, 0)).toBeWithin(600, 670);
});

test("503 waits at least as long as the server says", () => {
  const patience = new Patience(new TestClock(), 600);
  expect(patience.after(refused(503, "service_unavailable", 10))).toEqual({ wait: "server", milliseconds: 10_000 });
});

test("jitter takes away at most half of a pause", () => {
  const clock = Object.assign(new TestClock(), { random: () => 0 });
  expect(new Patience(clock, 600).after(refused(null, "no_answer"))).toEqual({ wait: "server", milliseconds: 500 });
});
