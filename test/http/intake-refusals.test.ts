import { expect, test } from "bun:test";
import pino from "pino";
import { toApiError } from "../../src/http/shared/error-envelope.ts";
import { contextOf } from "../../src/http/shared/request-context.ts";
import { IntakeError } from "../../src/intake/index.ts";
import { type RefusalTable, refusals } from "../support/intake-refusals.ts";

const docs = "https://transcribe.example.org/docs";
const minute = { "Retry-After": "60" };
const underFile = (message: string) =>
  ["The request is not valid: file.", {}, { errors: { file: [message] } }] as const;

/** Code, message, headers, and the further fields of the envelope. */
type Answer = readonly [code: string, message: string, headers?: object, more?: object];

const answers: RefusalTable<Answer> = {
  closed: ["503 service_unavailable", "The server is stopping.", { "Retry-After": "10" }],
  guest: ["403 guest_account_not_supported", "A guest account can't use the API.", {}, { docs }],
  restricted: ["403 account_restricted", "This account is restricted.", {}, { docs }],
  no_subscription: ["403 subscription_required", "This account has no active subscription.", {}, { docs }],
  creates_used_up: [
    "429 rate_limited",
    "This account may create 30 recordings within an hour.",
    { "Retry-After": "2" },
  ],
  creates_of_day: [
    "429 rate_limited",
    "This account may create 90 recordings within 24 hours.",
    { "Retry-After": "1" },
  ],
  no_place: [
    "409 concurrency_limit",
    "5 recordings of this account are queued, processing or being uploaded; send this one when one of them has finished.",
  ],
  no_place_for_replay: [
    "409 concurrency_limit",
    "1 upload of this account is in progress; send this one again when one of them has finished.",
  ],
  left_to_requests: ["429 rate_limited", "A limit was reached."],
  disk_full: ["503 service_unavailable", "There is no disk space to store the upload now.", minute],
  account_share_full: [
    "503 service_unavailable",
    "Unfinished uploads of one account may take a share of the free disk space, and this upload exceeds it. Send the recording again when other uploads of this account have finished.",
    minute,
  ],
  probe_timed_out: ["503 service_unavailable", "The server is too busy to probe the file now.", minute],
  no_recording: ["422 validation_failed", ...underFile("It is no recording.")],
  too_long: ["422 validation_failed", ...underFile("The recording is longer than 1.5 hours.")],
  never_fits: ["413 file_too_large", "The recording needs more disk space to process than this server has."],
  no_space_to_process: ["503 service_unavailable", "There is no disk space to process this recording now.", minute],
};

test("a request whose recording is refused gets its code, text and headers, for each kind of refusal", () => {
  const request = new Request("https://transcribe.example.org/");
  contextOf(request).origin = "https://transcribe.example.org";
  const log = pino({ level: "silent" });
  const found = Object.entries(refusals).map(([name, refusal]) => {
    const answer = toApiError(new IntakeError(refusal), "UNKNOWN", log, request);
    const { error, message, ...more } = JSON.parse(answer.toJson());
    return [name, [`${answer.status} ${error}`, message, answer.details.headers ?? {}, more]];
  });
  const expected = Object.entries(answers).map(([name, [code, message, headers = {}, more = {}]]) => {
    return [name, [code, message, headers, more]];
  });
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
});
