import { type Static, Type } from "@sinclair/typebox";
import { values } from "../database/index.ts";

export const statusSchema = Type.Union(values.statuses.map((status) => Type.Literal(status)));
export type Status = Static<typeof statusSchema>;

export const { openStates: OPEN_STATES, endedStates: ENDED_STATES } = values;

/** Returns whether a recording has not ended. */
export function isOpen(status: Status): boolean {
  return OPEN_STATES.some((state) => state === status);
}

export const stepSchema = Type.Union(values.steps.map((step) => Type.Literal(step)));
export type Step = Static<typeof stepSchema>;

export const failureReasonSchema = Type.Union(values.failureReasons.map((reason) => Type.Literal(reason)));
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
  ...values.failureReasons.filter((reason) => reason !== "internal").map((reason) => ({ reason, cause: "" as const })),
  ...internalCauses.map((cause) => ({ reason: "internal" as const, cause })),
];
