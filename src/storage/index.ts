export type { AudioStore } from "./audio-store.ts";
export { newBackupPath, pruneUpgradeBackups, upgradeBackups } from "./backup-directory.ts";
export { becomeOwner, becomeOwnerWith } from "./become-owner.ts";
export type { BucketState } from "./bucket-audio-store.ts";
export { BucketSettingsError, probeBucket } from "./bucket-options.ts";
export { DataDirectory, DataDirectoryInUseError, DataPaths } from "./data-directory.ts";
export { DiskUsage } from "./disk-usage.ts";
export { isRecordingId, type PlaybackFiles, RecordingFiles } from "./recording-files.ts";
export {
  InactiveDirectoryError,
  isStandby,
  noteReplaced,
  readReplacedMarker,
  readStandbyMarker,
  removeMarkers,
  requireActive,
  type StandbyMarker,
  writeStandbyMarker,
} from "./standby-marker.ts";
