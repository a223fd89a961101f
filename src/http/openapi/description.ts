import type { Settings } from "../../config/index.ts";
import { errorCodes, statusOf } from "../errors.ts";
import { MAX_OPEN_ANSWERS } from "../open-answers.ts";
import { catalogue } from "./catalogue.ts";

type Limits = Settings["limits"];

/**
 * Returns the introduction for developers of clients, in Markdown.
 * @param limits as set on the server; an account may have its own
 */
export function description(limits: Limits): string {
  return [introduction, access, headers, limitsText(limits), polling, errorsText(), parserText].join("\n\n");
}

const introduction = `Send a recording, poll its record until it has ended, then read the transcript or download it.

Paths are below \`/api/public/v1\`. \`HEAD\` is answered wherever \`GET\` is, with the same headers and no body. \`OPTIONS\` and every method that a path does not take are answered 405 with \`Allow\`: there is no CORS, so a browser's page on another host can't call this API. A path with a slash at its end is another path, and 404. Parameters and parts that are not known are ignored; fields may be added to answers, so ignore those that you don't know.`;

const access = `## Access
Send your key with every request: \`Authorization: Bearer trs_…\`. The operator makes keys on the machine. A key belongs to an account, has scopes, may be pinned to a workspace, and may expire. What the operator changes counts with the next request.

Checked in this order: failed authentications of your address (429), the key (401), the account (403 with \`docs\`), the key's request rate (429), the path (404) and method (405), the key's scope (403), the recording (404, or 403 for one of your account's in another workspace), and only then the request itself (422) and the recording's state (409).`;

const headers = `## Headers of every answer
\`X-Request-Id\` names the request in the server's log: keep it with your own. \`RateLimit\` and \`RateLimit-Policy\` tell what is left. Nothing may be cached (\`Cache-Control: no-store\`) but exports, which have an \`ETag\`.`;

function limitsText(limits: Limits): string {
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
    ["Exports of an account that are being made or sent", number(MAX_OPEN_ANSWERS), "429"],
    ["Pages of segments of an account that are being sent", number(MAX_OPEN_ANSWERS), "429"],
    [
      "Uploads of an account in progress, replays included",
      number(limits.recordings_per_account),
      "409 `concurrency_limit`",
    ],
    ["Free disk space that unfinished uploads of an account take", "a fifth", "503 `service_unavailable`"],
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
| what | how much | past it |
|---|---|---|
${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}

An account may have limits of its own. \`Retry-After\` is exact. A create that is refused or replayed spends none of the creates. Audio is charged once, when processing begins, and refunded when the recording fails with \`internal\` through a fault of the service; not for a link that was too slow or gave no recording. A valid key is never refused for failed authentications.`;
}

const polling = `## Polling
Ask for the first time after 10 seconds; then every 5 seconds for a recording under ten minutes, and for a longer one double the pause each time up to 30 seconds. Give up after twice the recording's length plus ten minutes. On 429 wait \`Retry-After\` seconds; on 5xx back off and go on. \`completed\` and \`failed\` never change again. \`processing\` may read \`queued\` again after a restart of the server, and while other accounts' recordings have their share; the recording resumes where it was.`;

function errorsText(): string {
  const rows = errorCodes.map((code) => {
    const { meaning, advice } = catalogue[code];
    return `| ${statusOf(code)} | \`${code}\` | ${meaning} | ${advice} |`;
  });
  return `## Errors
Every error has the same form: \`{"error": CODE, "message": TEXT}\`, with \`errors\` under \`validation_failed\`, \`required\` under \`insufficient_scope\`, and \`docs\` where the account may not use the API.

| status | code | when | what to do |
|---|---|---|---|
${rows.join("\n")}`;
}

const parserText = `## What is refused before it is a request
A few things end at the HTTP parser, whose answer has a status and neither a body nor our headers: 400 for a broken request line or header, no \`Host\`, or a \`Content-Length\` or \`Transfer-Encoding\` that can't be read or that contradict each other; 431 for a path and headers of more than 16 KiB together, or about 200 headers; 505 for another version of HTTP than 1.0 and 1.1. A method that HTTP does not know ends the connection.

With the envelope and before anything else, on every path, 400 \`bad_request\` refuses a \`Host\` that is none of the server's names, two \`Host\` headers, and a path with \`.\` or \`..\` segments or backslashes, plain or percent-encoded.`;

function number(value: number): string {
  return value.toLocaleString("en");
}
