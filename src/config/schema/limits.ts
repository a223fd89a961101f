import { bytes, duration, group, integer } from "./kinds.ts";

export const limits = group(
  "What is refused. Those of accounts and keys can be set for an account: transcribe accounts limits.",
  {
    upload_bytes: bytes({
      default: 512 * 1024 ** 2,
      minimum: 1,
      maximum: 64 * 1024 ** 3,
      description: "Largest recording that is taken, in bytes.",
      reload: true,
    }),
    recording_seconds: duration("seconds", {
      default: 18 * 3600,
      minimum: 1,
      maximum: 7 * 24 * 3600,
      description: "Longest recording that is taken, in seconds.",
      reload: true,
    }),
    recordings_per_account: integer({
      default: 5,
      minimum: 1,
      maximum: 100_000,
      description: "Recordings that one account may have queued or processing at a time.",
      reload: true,
    }),
    audio_minutes_per_day: duration("minutes", {
      default: 1200,
      minimum: 0,
      maximum: 10_000_000,
      description: "Minutes of audio that one account may have processed in a day (UTC).",
      reload: true,
    }),
    creates_per_hour: integer({
      default: 60,
      minimum: 0,
      maximum: 1_000_000,
      description: "Recordings that one account may create within an hour.",
      reload: true,
    }),
    creates_per_day: integer({
      default: 500,
      minimum: 0,
      maximum: 1_000_000,
      description: "Recordings that one account may create within 24 hours.",
      reload: true,
    }),
    requests_per_minute: integer({
      default: 120,
      minimum: 1,
      maximum: 1_000_000,
      description: "Requests that one key may make within a minute.",
      reload: true,
    }),
    failed_authentications_per_minute: integer({
      default: 20,
      minimum: 1,
      maximum: 1_000_000,
      description: "Failed authentications that one address (IPv6: /64) may make within a minute.",
      reload: true,
    }),
  },
);
