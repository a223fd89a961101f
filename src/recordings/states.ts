import { type Static, Type } from "@sinclair/typebox";

/** The states of a recording, as the API reports them. `completed` and `failed` never change again. */
export const statusSchema = Type.Union([
  Type.Literal("queued"),
  Type.Literal("processing"),
  Type.Literal("completed"),
  Type.Literal("failed"),
]);
export type Status = Static<typeof statusSchema>;

/** The states of a recording that has not ended. */
export const OPEN_STATES = ["queued", "processing"] as const satisfies readonly Status[];
/** The states of a recording that has ended. */
export const ENDED_STATES = ["completed", "failed"] as const satisfies readonly Status[];

/** Returns whether a recording has not ended. */
export function isOpen(status: Status): boolean {
  return status === "queued" || status === "processing";
}

/** The values of `progress.step` in the API. */
export const stepSchema = Type.Union([
  Type.Literal("fetch"),
  Type.Literal("decode"),
  Type.Literal("detect"),
  Type.Literal("transcribe"),
  Type.Literal("diarize"),
  Type.Literal("finalize"),
]);
export type Step = Static<typeof stepSchema>;

export const failureReasonSchema = Type.Union([
  Type.Literal("no_speech"),
  Type.Literal("too_short"),
  Type.Literal("quota_exceeded"),
  Type.Literal("internal"),
]);
type FailureReason = Static<typeof failureReasonSchema>;

/** The causes of an `internal` failure, for the operator: in the log and the CLI, never in the API. */
const internalCauses = [
  "ffmpeg_unusable",
  "ffmpeg_crashed",
  "ffmpeg_out_of_memory",
  "ffmpeg_timed_out",
  "input_unreadable",
  "recording_too_long",
  "disk_full",
  "engine_crashed",
  "engine_stalled",
  "fetch_bad_url",
  "fetch_blocked_address",
  "fetch_dns_failed",
  "fetch_connect_failed",
  "fetch_tls_failed",
  "fetch_bad_answer",
  "fetch_http_status",
  "fetch_redirects",
  "fetch_encoding",
  "fetch_playlist",
  "fetch_web_page",
  "fetch_empty",
  "fetch_too_large",
  "fetch_too_slow",
  "fetch_timed_out",
  "fetch_interrupted",
  "cancelled",
  "unexpected",
] as const;
export type InternalCause = (typeof internalCauses)[number];

/**
 * Returns whether a failure is the service's fault, so that the recording's charge is refunded. A recording that is too
 * long is not the service's fault, nor is a failed download of a link.
 */
export function isServiceFault(failure: Failure): boolean {
  if (failure.reason !== "internal") return false;
  return failure.cause !== "recording_too_long" && !failure.cause.startsWith("fetch_");
}

/** The failure of a recording: the reason, which clients see, and the cause, which operators see. */
export type Failure =
  | { readonly reason: Exclude<FailureReason, "internal"> }
  | { readonly reason: "internal"; readonly cause: InternalCause };

/** All kinds of failure; `cause` is empty except for `internal`. */
export const failureKinds: readonly { readonly reason: FailureReason; readonly cause: InternalCause | "" }[] = [
  ...(["no_speech", "too_short", "quota_exceeded"] as const).map((reason) => ({ reason, cause: "" as const })),
  ...internalCauses.map((cause) => ({ reason: "internal" as const, cause })),
];
