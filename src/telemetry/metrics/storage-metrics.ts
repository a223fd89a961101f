import type { Registry } from "prom-client";
import { askedGauge, labelledGauge } from "./declare.ts";

export interface StorageSource {
  /** Returns sizes in bytes. Called several times for each reading of the metrics. */
  disk(): Promise<{
    readonly freeBytes: number;
    readonly sizeBytes: number;
    readonly databaseBytes: number;
    /** Size of each folder of the data directory. */
    readonly folders: Readonly<Record<string, number>>;
  }>;
  /** Returns the time at which the certificate expires, in seconds since the epoch; null without TLS. */
  certificateEndsAt(): number | null;
}

/** Registers metrics of the disk and of the certificate's expiry. */
export function registerStorageMetrics(registry: Registry, source: StorageSource): void {
  // If the disk can't be read, only its own metrics are left out: all others matter even more then.
  const disk = () => source.disk().catch(() => null);
  askedGauge(
    registry,
    {
      name: "transcribe_disk_free_bytes",
      help: "Space that the server may still use on the disk of its data directory",
    },
    async () => (await disk())?.freeBytes ?? null,
  );
  askedGauge(
    registry,
    { name: "transcribe_disk_size_bytes", help: "Size of that disk" },
    async () => (await disk())?.sizeBytes ?? null,
  );
  askedGauge(
    registry,
    { name: "transcribe_database_bytes", help: "Size of the database, with its log of writes" },
    async () => (await disk())?.databaseBytes ?? null,
  );
  labelledGauge(
    registry,
    {
      name: "transcribe_stored_bytes",
      help: "Size of the files in the folders of the data directory; looked up once a minute, less often where that takes seconds",
      labelNames: ["folder"],
    },
    async () => Object.entries((await disk())?.folders ?? {}).map(([folder, value]) => ({ labels: { folder }, value })),
  );
  askedGauge(
    registry,
    {
      name: "transcribe_tls_certificate_end_timestamp_seconds",
      help: "When the server's certificate ends; absent without TLS",
    },
    () => source.certificateEndsAt(),
  );
}
