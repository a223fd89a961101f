import type { Settings } from "../../../config/index.ts";
import { errorEntries } from "../../shared/errors.ts";
import { MAX_BYTES_OF_OWNER } from "../../shared/held-answers.ts";
import { MAX_OPEN_EXPORTS } from "../../shared/open-answers.ts";

/**
 * Returns the introduction for developers of clients, in Markdown.
 * @param limits as set on the server; an account may have its own
 * @param attributions texts that name the authors of speech models, as far as a licence requires it
 */
export function description(limits: Settings["limits"], attributions: readonly string[]): string {
  const parts = [introduction, access, headers, limitsText(limits), polling, live, errorsText(), parserText];
  return [...parts, ...modelsText(attributions)].join("\n\n");
}

const introduction = `Send a recording, poll its record until it has completed or failed, then read the transcript or download it.

Paths are below \`/api/public/v1\`. \`HEAD\` is answered like \`GET\`, with the same headers and no body. \`OPTIONS\` and every method that a path does not accept are answered 405 with \`Allow\`: there is no CORS, so a page of another origin can't call this API from a browser. A path with a trailing slash is another path, and 404. Unknown parameters and parts are ignored. Fields may be added to answers, so ignore unknown fields.`;

const access = `## Access
Send your key with every request: \`Authorization: Bearer trs_…\`. The operator creates keys on the machine. A key belongs to an account, has scopes, may be pinned to a workspace, and may expire. A change by the operator takes effect with the next request.

Checked in this order: failed authentications of your address (429), the key (401), the account (403 with \`docs\`), the key's request rate (429), the path (404) and method (405), the key's scope (403), the recording (404, or 403 for one of your account's in another workspace), and only then the request itself (422) and the recording's status (409).`;

const headers = `## Headers of every answer
\`X-Request-Id\` identifies the request in the server's log: store it in your own log. \`RateLimit\` and \`RateLimit-Policy\` show the remaining quota. Nothing may be cached (\`Cache-Control: no-store\`) except exports, which have an \`ETag\`.`;

function limitsText(limits: Settings["limits"]): string {
  const rows: [string, string, string][] = [
    ["Requests of a key", `${number(limits.requests_per_minute)} a minute`, "429"],
    [
      "Creates of an account",
      `${number(limits.creates_per_hour)} within an hour, ${number(limits.creates_per_day)} within 24 hours`,
      "429",
    ],
    ["Failed authentications of an address", `${number(limits.failed_authentications_per_minute)} a minute`, "429"],
    [
      "Recordings of an account that are queued, processing or being uploaded",
      number(limits.recordings_per_account),
      "409 `concurrency_limit`",
    ],
    ["Exports of an account that are being generated or sent", number(MAX_OPEN_EXPORTS), "429"],
    ["Bytes of other answers of an account that are being sent", number(MAX_BYTES_OF_OWNER), "429"],
    [
      "Uploads of an account in progress, replays included",
      number(limits.recordings_per_account),
      "409 `concurrency_limit`",
    ],
    ["Share of the free disk space for unfinished uploads of an account", "a fifth", "503 `service_unavailable`"],
    [
      "Time of an upload",
      "a minute, and a second for each 16 KiB; at least 16 KiB in any minute",
      "400 `bad_request`, and the connection is closed",
    ],
    [
      "Audio of an account",
      `${number(limits.audio_minutes_per_day)} minutes a day (UTC)`,
      "the recording fails with `quota_exceeded`",
    ],
    ["A file", `${number(limits.upload_bytes)} bytes`, "422 under `file`, or 413"],
    ["A recording", `${number(limits.recording_seconds)} seconds`, "422 under `file`, or it fails with `internal`"],
  ];
  return `## Limits
| limit | value | beyond it |
|---|---|---|
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

An account may have its own limits. \`Retry-After\` is exact. A create that is refused or replayed uses up no quota. Audio is charged once, when processing begins. It is refunded when the recording fails with \`internal\` through a fault of the service, but not for a link that was too slow or had no recording. A valid key is never refused for failed authentications.`;
}

const live = `## Live sessions
\`GET /live\` is a WebSocket that transcribes sound while people speak. It needs the scopes \`transcriptions:write\` and \`transcriptions:read\`. The key is sent as usual, or as the subprotocol \`bearer.KEY\` next to \`transcribe\`. A request without an upgrade is answered 426 with \`Upgrade: websocket\`, and every refusal before the upgrade has the form below. The documentation of the server, \`docs/live.md\`, describes its parameters and messages.`;

const polling = `## Polling
Send the first request after 10 seconds. Then poll every 5 seconds for a recording under ten minutes; for a longer one, double the pause each time up to 30 seconds. Give up after twice the recording's length plus ten minutes. On 429 wait \`Retry-After\` seconds; on 5xx retry with exponential backoff. \`completed\` and \`failed\` never change again. \`processing\` may become \`queued\` again after a restart of the server, and while recordings of other accounts are processed; the recording then resumes from its last checkpoint.`;

function errorsText(): string {
  const rows = Object.entries(errorEntries).map(
    ([code, { status, meaning, advice }]) => `| ${status} | \`${code}\` | ${meaning} | ${advice} |`,
  );
  return `## Errors
Every error has the same form: \`{"error": CODE, "message": TEXT}\`, with \`errors\` under \`validation_failed\`, \`required\` under \`insufficient_scope\`, and \`docs\` if the account may not use the API.

| status | code | when | what to do |
|---|---|---|---|
${rows.join("\n")}`;
}

const parserText = `## Requests that the HTTP parser refuses
The HTTP parser itself refuses a few malformed requests. Its answer has a status, but neither a body nor the headers above: 400 for a broken request line or header, no \`Host\`, or a \`Content-Length\` or \`Transfer-Encoding\` that is malformed or contradicts the other; 431 for a path and headers of more than 16 KiB together, or about 200 headers; 505 for a version of HTTP other than 1.0 and 1.1. An unknown HTTP method ends the connection.

On every path, before any other check, 400 \`bad_request\` with the error envelope refuses a \`Host\` that is not one of the server's names, two \`Host\` headers, and a path with \`.\` or \`..\` segments or backslashes, plain or percent-encoded.`;

/** Returns nothing if no licence requires an attribution. */
function modelsText(attributions: readonly string[]): string[] {
  if (attributions.length === 0) return [];
  return [`## Speech models\n${attributions.map((text) => `- ${text}`).join("\n")}`];
}

function number(value: number): string {
  return value.toLocaleString("en");
}
