import type { Declarations } from "./declare.ts";

/** The watched folders. */
export interface FolderSource {
  folders(): {
    /** Number of files that were seen and not taken yet. */
    readonly waiting: number;
    /** Numbers of files since the server was started. */
    readonly done: number;
    readonly failed: number;
    /** Number of folders for each kind of hindrance, also for those that no folder meets. */
    readonly hindered: readonly { readonly kind: string; readonly count: number }[];
  };
}

/** Registers metrics of the watched folders. */
export function registerFolderMetrics(declare: Declarations, source: FolderSource): void {
  declare.gauge(
    "transcribe_folder_files_waiting",
    "Files in watched folders that were seen and not taken yet",
    () => source.folders().waiting,
  );
  declare.gauge(
    "transcribe_folders_hindered",
    "Watched folders from which no files are taken, or that get no results, by the reason; places, creates and audio are limits of the account",
    () => source.folders().hindered.map(({ kind, count }) => [count, kind]),
    ["hindrance"],
  );
  declare.readCounter(
    "transcribe_folder_files_total",
    "Files of watched folders that were moved to done or failed since the server was started",
    () => {
      const { done, failed } = source.folders();
      return [
        [done, "done"],
        [failed, "failed"],
      ];
    },
    ["outcome"],
  );
}
