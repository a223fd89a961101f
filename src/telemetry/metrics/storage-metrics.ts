import type { Registry } from "prom-client";
import { askedGauge, labelledGauge } from "./declare.ts";

export interface StorageSource {
  /** Bytes on disk; asked a few times for one reading of the metrics. */
  disk(): Promise<{
    readonly freeBytes: number;
    readonly sizeBytes: number;
    readonly databaseBytes: number;
    /** By folder of the data directory. */
    readonly folders: Readonly<Record<string, number>>;
  }>;
  /** When the certificate ends, in seconds since the epoch; null without TLS. */
  certificateEndsAt(): number | null;
}

/** What fills the disk, and the certificate that must not end unseen. */
export function registerStorageMetrics(registry: Registry, source: StorageSource): void {
  // A disk that can't be asked leaves its figures out; all others are needed the more.
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
