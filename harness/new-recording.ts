import type { Recordings } from "../src/recordings/index.ts";

/** Returns the values of a new upload of an account, in no workspace. */
export function newRecording(
  id: string,
  accountId: string,
  values: Partial<Parameters<Recordings["create"]>[0]> = {},
): Parameters<Recordings["create"]>[0] {
  return {
    id,
    accountId,
    workspaceId: null,
    pinnedLanguage: null,
    speechModel: "whisper-base",
    sourceName: "talk",
    sourceUrl: null,
    sizeBytes: 1000,
    ...values,
  };
}
