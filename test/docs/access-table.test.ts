import { expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { type RouteName, routes } from "../../src/console/contract/index.ts";
import { editingOperations } from "../../src/http/api/editing/operations.ts";
import { furtherOperations, openLiveSession, operations } from "../../src/http/api/operations.ts";
import type { Operation } from "../../src/http/shared/operations.ts";

/** The console's route for what each operation of the API does; null if the console has none. */
const inConsole: Readonly<
  Record<keyof typeof operations | keyof typeof furtherOperations | keyof typeof editingOperations, RouteName | null>
> = {
  createTranscription: "createRecording",
  listTranscriptions: "recordings",
  getTranscription: "recording",
  deleteTranscription: "deleteRecording",
  listSegments: "segments",
  exportTranscription: "exportTranscript",
  listLanguages: "uploadOptions",
  exportTranscriptionAs: "exportTranscript",
  getTranslation: "translation",
  cancelTranscription: "cancelProcessing",
  listSpeakers: "recording",
  nameSpeakers: "nameSpeakers",
  mergeSpeakers: "correct",
  correctSegments: "correct",
  listRevisions: "revisions",
  getRevision: "comparison",
  compareRevision: "comparison",
  restoreRevision: "correct",
  getProcessing: "recording",
  processAgain: "processAgain",
  listVoices: "voices",
  renameVoice: "renameVoice",
  deleteVoice: "deleteVoice",
  getTags: null,
  setTags: null,
  searchTranscriptions: "recordings",
};

/** The table of docs/editing.md. */
function accessTable(): string {
  const all: Readonly<Record<string, Operation>> = { ...operations, ...furtherOperations, ...editingOperations };
  const rows = Object.entries(inConsole).map(([id, name]): [string, Operation | undefined, string] => {
    return [id, all[id], name === null ? "–" : routes[name].access];
  });
  const lines = [...rows, ["live", openLiveSession, routes.live.access] as const].map(([, operation, role]) => {
    const { method, path, scope } = operation ?? { method: "", path: "", scope: null };
    const shown = path.replaceAll(/:(\w+)/g, (_, name: string) => name.toUpperCase());
    return `| \`${method} ${shown}\` | ${scope === null ? "any key" : `\`${scope}\``} | ${role} |`;
  });
  return ["| route | scope of the key | role in the console |", "|---|---|---|", ...lines].join("\n");
}

test("docs/editing.md lists every route of the API with the scope that a key needs and the role of the console", async () => {
  const operationIds = [operations, furtherOperations, editingOperations].flatMap((each) => Object.keys(each));
  expect(Object.keys(inConsole).sort()).toEqual(operationIds.sort());
  const page = await Bun.file(join(root, "docs/editing.md")).text();
  expect(page.split("no such route.\n\n")[1]?.trimEnd().split("\n\n")[0]).toBe(accessTable());
});
