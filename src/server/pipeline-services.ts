import { getAccount } from "../accounts/index.ts";
import { type DiskSpace, WorkReservations } from "../disk/index.ts";
import { retentionOf, serverRetention } from "../library/index.ts";
import type { PipelineServices } from "../pipeline/index.ts";
import { type ProgramFiles, programVersion } from "../program/index.ts";
import { parseAccountLimits } from "../usage/index.ts";
import type { RunningSettings } from "./running-settings.ts";

type Parts = Omit<
  PipelineServices,
  "fetchOptions" | "decodeOptions" | "workReservations" | "audioAllowanceSeconds" | "dropsAudio"
> & { readonly diskSpace: DiskSpace };

/** Returns the services that process recordings; settings are read when they are used. */
export function pipelineServices(
  running: RunningSettings,
  files: ProgramFiles,
  { diskSpace, ...parts }: Parts,
): PipelineServices {
  const limits = () => running.values.limits;
  return {
    ...parts,
    fetchOptions: () => ({
      enabled: running.values.fetch.enabled,
      allow: running.parsed.allow,
      maxBytes: limits().upload_bytes,
      maxSeconds: running.values.fetch.timeout_seconds,
      stallSeconds: running.values.fetch.stall_seconds,
      userAgent: `transcribe/${programVersion}`,
      reserveSpace(announcedBytes) {
        // Checks that the announced size fits, but reserves nothing until bytes arrive, so that other recordings can
        // use the space.
        diskSpace.reserve(announcedBytes, "intake")[Symbol.dispose]();
        return diskSpace.reserve(0, "intake");
      },
    }),
    decodeOptions: () => ({ ffmpegPath: files.ffmpeg, maxSeconds: limits().recording_seconds }),
    workReservations: new WorkReservations(diskSpace),
    audioAllowanceSeconds: (accountId) => {
      const own = parseAccountLimits(getAccount(parts.store, accountId)?.limits ?? "{}");
      return 60 * (own.audio_minutes_per_day ?? limits().audio_minutes_per_day);
    },
    dropsAudio: (accountId) => {
      const account = getAccount(parts.store, accountId);
      const server = serverRetention(running.values.retention);
      return (account === null ? server : retentionOf(account, server)).audioDays === 0;
    },
  };
}
