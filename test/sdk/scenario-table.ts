import { expect } from "bun:test";
import { changeAccount } from "../../src/accounts/index.ts";
import { scopes } from "../../src/keys/index.ts";
import { type BadNetwork, type Fate, refusal } from "../support/bad-network.ts";
import type { ApiServer, KeyClient } from "../support/http.ts";

/** Megabytes that a process may need while it sends the large recording. */
const MAX_MEGABYTES = 100;

/** The circumstances of one scenario in one runtime. */
export interface Stage {
  readonly server: ApiServer;
  readonly network: BadNetwork;
  readonly caller: KeyClient & { readonly account: string };
  /** Path of a large WAV file. */
  readonly large: string;
  /** Sent to the script. */
  readonly told: { name: string; base_url: string; key: string; recording: string; directory: string; id: string };
}

export interface Scenario {
  readonly prepare?: (stage: Stage) => void;
  /** Fates of the first requests. */
  readonly fates?: readonly Fate[];
  readonly outcome?: unknown;
  /** Checks what the outcome does not show. */
  readonly check?: (stage: Stage, outcome: Record<string, unknown>, seconds: number) => void | Promise<void>;
}

const refused = (status: number, code: string, more: Record<string, unknown> = {}) => ({
  ...{ name: "ApiError", status, code, fields: [], required: null, retry_after: null, has_request_id: true },
  ...more,
});
const byProxy = { has_request_id: false };
const direct = ({ told, server }: Stage) => {
  told.base_url = server.origin;
};
const completed = ({ told, server, caller }: Stage) => {
  told.id = server.enterCompleted(caller.accountId, 1200);
};
const processing = ({ told, server, caller }: Stage) => {
  told.id = server.enterProcessing(caller.accountId);
};
const allScopes = ({ told, server, caller }: Stage) => {
  told.key = server.client(caller.account, { scopes }).key;
};
const large = (stage: Stage) => {
  direct(stage);
  stage.told.recording = stage.large;
};

const troubles: readonly [string, Fate[]][] = [
  ["whose connection breaks", ["break"]],
  ["whose answer is lost", ["lose the answer"]],
  [
    "that gets 503, then 429, each with Retry-After",
    [refusal(503, "service_unavailable", { "Retry-After": "1" }), refusal(429, "rate_limited", { "Retry-After": "1" })],
  ],
  ["that gets a proxy's 502", [{ status: 502, body: "<html>Bad Gateway</html>" }]],
  ["whose first request is still in progress", [refusal(409, "idempotency_request_in_progress")]],
];

/** Accepts connections and never answers. */
export const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
const silentAddress = `http://127.0.0.1:${silent.port}`;
/** A port that no server of another test gets, because it is privileged, and that Node does not refuse by itself. */
const closedAddress = "http://127.0.0.1:2";

/** Scenarios of scenarios.mts and scenarios.py with a promise for every language. */
export const scenarios: readonly (readonly [promise: string, name: string, scenario: Scenario])[] = [
  [
    "a create sends the recording and its hints",
    "create",
    {
      check: ({ server }, { id, name }) => {
        const { language, prompt, minSpeakers, maxSpeakers } = server.recordings.get(String(id)) ?? {};
        const hints = { language: "en", prompt: "Zoë", minSpeakers: 2, maxSpeakers: 2 };
        expect({ name, language, prompt, minSpeakers, maxSpeakers }).toEqual({ name: "jfk", ...hints });
      },
    },
  ],
  ["a recording may be bytes, with any name", "bytes", { outcome: ['a "b"', "recording", "file"] }],
  ["a link is sent as a link", "link", { outcome: { type: "url", name: null, url: "https://example.org/talk.mp3" } }],
  ["a create with the same key of the program's own is created once", "same_key", { outcome: { is_same: true } }],
  ["the languages are those of the server", "languages", { outcome: ["de", "en", "jv"] }],
  ...troubles.map(([trouble, fates]): (typeof scenarios)[number] => [
    `a create ${trouble} is sent again with the same key and is created once`,
    "create",
    {
      fates,
      check: async ({ caller, network }, { id }, seconds) => {
        const page = (await (await caller.fetch("/transcriptions")).json()) as { data: { id: string }[] };
        expect(page.data.map((each) => each.id)).toEqual([String(id)]);
        expect(network.seen).toHaveLength(fates.length + 1);
        expect(new Set(network.seen.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
        if (fates.length === 2) expect(seconds).toBeGreaterThan(2);
      },
    },
  ]),
  [
    "a request that would have to wait too long is not retried",
    "refused_once",
    {
      fates: [refusal(429, "rate_limited", { "Retry-After": "60" })],
      outcome: refused(429, "rate_limited", { ...byProxy, retry_after: 60 }),
    },
  ],
  [
    "a key that is not valid is refused once, and no error shows it",
    "refused",
    {
      prepare: ({ told }) => Object.assign(told, { key: `trs_${"x".repeat(40)}` }),
      outcome: refused(401, "invalid_api_key"),
      check: ({ network }) => expect(network.seen).toHaveLength(1),
    },
  ],
  [
    "a redirect is not followed",
    "refused",
    {
      fates: [{ status: 302, headers: { Location: "http://127.0.0.1:1/" }, body: "" }],
      outcome: { name: "BadAnswerError" },
    },
  ],
  [
    "a hint that is not valid is named",
    "bad_hint",
    { outcome: refused(422, "validation_failed", { fields: ["speakers"] }) },
  ],
  [
    "a large upload that the server refuses at its beginning gives the server's reason",
    "full",
    {
      prepare: (stage) => {
        const { server, caller } = stage;
        large(stage);
        changeAccount(server.store, server.account(caller.account), server.operator(), {
          limits: { recordings_per_account: 0 },
        });
      },
      outcome: refused(409, "concurrency_limit"),
    },
  ],
  [
    "a large recording is read while it is sent",
    "large",
    {
      prepare: large,
      check: (_, { name, megabytes }) => {
        expect(name).toBe("large");
        expect(megabytes).toBeLessThan(MAX_MEGABYTES);
      },
    },
  ],
  ["a file that is missing is named", "missing_file", { outcome: { name: "other", is_named: true } }],
  [
    "an address where nothing listens fails at once",
    "nothing_listens",
    {
      prepare: ({ told }) => Object.assign(told, { base_url: closedAddress }),
      outcome: { name: "NoAnswerError", temporary: false },
    },
  ],
  [
    "a server that never answers fails after the time limit",
    "unanswered",
    {
      prepare: ({ told }) => Object.assign(told, { base_url: silentAddress }),
      outcome: { name: "NoAnswerError", temporary: true },
    },
  ],
  [
    "a malformed address or key is refused at the start without showing it",
    "malformed",
    { outcome: Array(5).fill("other") },
  ],
  ["a wait returns the completed transcription", "wait", { prepare: completed, outcome: "completed" }],
  [
    "a wait for a transcription that fails names the reason",
    "failed",
    {
      prepare: ({ told, server, caller }) => Object.assign(told, { id: server.enterFailed(caller.accountId) }),
      outcome: { name: "TranscriptionFailedError", reason: "internal" },
    },
  ],
  ["a wait can be cancelled", "cancelled", { prepare: processing, outcome: "other" }],
  [
    "segments and transcriptions are read page by page",
    "pages",
    {
      prepare: (stage) => {
        completed(stage);
        for (let count = 0; count < 120; count++) stage.server.enterCompleted(stage.caller.accountId, 1);
      },
      outcome: { segments: 1200, last: "Segment 1199.", listed: 121 },
    },
  ],
  [
    "an export is saved as a whole file or not at all",
    "exports",
    {
      prepare: completed,
      check: (_, { files, srt, refused: refusal, media_type, size, unchanged }) => {
        expect(files).toEqual(["a.srt"]);
        expect(srt).toStartWith("1\n00:00:00,000 --> ");
        expect(refusal).toEqual(refused(422, "validation_failed", { fields: ["format"] }));
        expect(media_type).toBe("text/plain; charset=utf-8");
        expect(size).toBeGreaterThan(10_000);
        expect(unchanged).toBe(true);
      },
    },
  ],
  [
    "a deletion whose answer is lost succeeds",
    "delete",
    { prepare: completed, fates: ["lose the answer"], outcome: refused(404, "not_found") },
  ],
  [
    "a transcript is corrected once although the answer is lost, and restored, named, tagged and found",
    "editing",
    {
      prepare(stage) {
        completed(stage);
        allScopes(stage);
      },
      fates: ["lose the answer"],
      outcome: {
        ...{ revision: 1, restored: 2, latest: 2, actions: ["restore", "text"], processing: null },
        ...{ tags: ["board"], tagged: [true], found: 0, speakers: ["Ada", null] },
        conflict: ["precondition_failed", 1],
        texts: ["Changed.", "Segment 0."],
      },
    },
  ],
  [
    "a transcription that is processing is cancelled once although the answer is lost",
    "cancelled_by_request",
    {
      prepare(stage) {
        processing(stage);
        allScopes(stage);
      },
      fates: ["lose the answer"],
      outcome: ["failed", { name: "TranscriptionFailedError", reason: "internal" }],
    },
  ],
  [
    "a transcription that is processing is not deleted",
    "delete_refused",
    { prepare: processing, outcome: refused(409, "transcription_still_processing") },
  ],
];
