import type { Declarations } from "./declare.ts";

export interface StorageSource {
  /** Returns sizes in bytes. Called several times for each reading of the metrics. */
  disk(): Promise<{
    readonly freeBytes: number;
    readonly sizeBytes: number;
    readonly databaseBytes: number;
    /** Size of each folder of the data directory. */
    readonly folders: Readonly<Record<string, number>>;
  }>;
  /** The moves of audio to an object store. */
  audioStore(): {
    /** Number of files that are not sent yet, and of objects that are not removed yet. */
    readonly waiting: number;
    /** Seconds since which the object store can't be used; 0 while it works. */
    readonly outageSeconds: number;
  };
  /** Returns the time at which the certificate expires, in seconds since the epoch; null without TLS. */
  certificateEndsAt(): number | null;
}

/** Registers metrics of the disk and of the certificate's expiry. */
export function registerStorageMetrics(declare: Declarations, source: StorageSource): void {
  // If the disk can't be read, only its own metrics are left out: all others matter even more then.
  const disk = () => source.disk().catch(() => null);
  declare.gauge(
    "transcribe_disk_free_bytes",
    "Free space on the disk of the data directory that the server may use",
    async () => (await disk())?.freeBytes ?? null,
  );
  declare.gauge(
    "transcribe_disk_size_bytes",
    "Size of the disk of the data directory",
    async () => (await disk())?.sizeBytes ?? null,
  );
  declare.gauge(
    "transcribe_database_bytes",
    "Size of the database and its write-ahead log",
    async () => (await disk())?.databaseBytes ?? null,
  );
  declare.gauge(
    "transcribe_stored_bytes",
    "Size of the files in each folder of the data directory, measured once a minute, less often if that takes seconds",
    async () => Object.entries((await disk())?.folders ?? {}).map(([folder, bytes]) => [bytes, folder]),
    ["folder"],
  );
  declare.gauge(
    "transcribe_audio_store_files_waiting",
    "Recordings whose audio is not moved to the object store yet, or not removed from it yet",
    () => source.audioStore().waiting,
  );
  declare.gauge(
    "transcribe_audio_store_outage_seconds",
    "Time since which the object store of the audio can't be used; 0 while it works",
    () => source.audioStore().outageSeconds,
  );
  declare.gauge(
    "transcribe_tls_certificate_end_timestamp_seconds",
    "Time at which the server's certificate expires, in seconds since the epoch; absent without TLS",
    () => source.certificateEndsAt(),
  );
}
