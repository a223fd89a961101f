import { Command } from "commander";
import { checkName, getAccount, requireAccount, requireWorkspace } from "../../accounts/index.ts";
import { findRunningServer } from "../../api-contract/index.ts";
import type { Settings } from "../../config/index.ts";
import type { Store } from "../../database/index.ts";
import { type ExportFormat, exportFormats } from "../../exports/index.ts";
import {
  type AddedFolder,
  addFolder,
  doubtTexts,
  type Folder,
  hindranceTexts,
  listFolders,
  listOpenFiles,
  type OpenFile,
  ownPlaces,
  removeFolder,
} from "../../folders/index.ts";
import { installedService } from "../../install/index.ts";
import { DataDirectory } from "../../storage/index.ts";
import { UsageError } from "../command-error.ts";
import { date, type JsonOption, optionalDate, print, printTable, readableTime } from "../output.ts";
import { absolutePath, checkedBy, languageCode, listOf, orEmpty, positiveNumber } from "../parse-option.ts";
import { printable } from "../printable.ts";
import {
  dataDirectoryOf,
  dataSettingsOf,
  openStoreIn,
  openStoreOf,
  settingsCommand,
  settingsFileOf,
} from "../settings-options.ts";
import { auditor } from "./audit.ts";

interface AddOptions extends JsonOption {
  readonly account: string;
  readonly workspace?: string;
  readonly format?: readonly ExportFormat[];
  readonly language?: string;
  readonly translate?: boolean;
  readonly to?: string;
  readonly files?: number;
}

/** transcribe folders add|list|remove */
export function foldersCommand(): Command {
  return new Command("folders")
    .description("Manage the folders whose recordings are transcribed.")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(removeCommand());
}

function addCommand(): Command {
  return settingsCommand(
    "add",
    "Watch a folder: files in it are transcribed, and then moved to done or failed. A watched folder keeps the options that are left out.",
  )
    .argument("<path>", "absolute path of the folder, as the server sees it", absolutePath)
    .requiredOption("--account <name>", "the account that owns the recordings, by name or id", checkedBy(checkName))
    .option(
      "--workspace <name>",
      'a workspace of the account, by name or id; "" for none',
      orEmpty(checkedBy(checkName)),
    )
    .option(
      "--format <formats>",
      `formats of the results, separated by commas: ${exportFormats.join(", ")} (default: txt)`,
      formatList,
    )
    .option("--language <code>", 'ISO code of the spoken language (default: "", detected)', orEmpty(languageCode))
    .option("--translate", "translate to English as well, with results such as talk.en.srt")
    .option("--no-translate", "do not translate (default)")
    .option("--to <path>", 'directory for the results (default: "", next to the recordings)', orEmpty(absolutePath))
    .option(
      "--files <number>",
      "confirms the number of files that a new folder holds and that are no recordings: they are moved to failed",
      positiveNumber,
    )
    .action(async (path: string, options: AddOptions, command: Command) => {
      // Only this command needs the server, whose modules take longer to load than the others run. They are loaded before
      // root becomes the directory's owner, who may not be able to read this program's files.
      const server = await import("../../server/index.ts");
      const settings = dataSettingsOf(command);
      const dataDirectory = new DataDirectory(settings.storage.data_dir);
      const store = openStoreIn(dataDirectory);
      const account = requireAccount(store, options.account);
      const workspace = givenOrNone(options.workspace, (name) => requireWorkspace(store, account, name));
      const language = await givenOrNone(options.language, (code) => languageOf(code, server, settings, store));
      if (options.translate === true) await requireTranslator(server, settings, store);
      const target = givenOrNone(options.to, (to) => to);
      const { format: formats, translate: isTranslated } = options;
      const wanted = { account, workspace, path, target, formats, language, isTranslated };
      const own = ownPlaces(settings, settingsFileOf(command));
      const added = await addFolder(store, own, { ...wanted, confirmedFiles: options.files }, auditor());
      for (const note of await notesOn(added, dataDirectory)) process.stderr.write(`${note}\n`);
      print(options, toJson(store, added.folder, []), () => describeAdded(added));
    });
}

function listCommand(): Command {
  return settingsCommand("list", "List the watched folders, with what waits in them and why.").action(
    async (options: JsonOption, command: Command) => {
      const dataDirectory = dataDirectoryOf(command);
      const store = openStoreIn(dataDirectory);
      const open = Map.groupBy(listOpenFiles(store), ({ folderId }) => folderId);
      const folders = listFolders(store);
      const filesOf = ({ id }: Folder) => open.get(id) ?? [];
      const isRunning = options.json === true || (await findRunningServer(dataDirectory)) !== null;
      if (!isRunning && folders.length > 0) process.stderr.write("no server is running; these are its last figures\n");
      if (options.json !== true && folders.some(({ unread }) => unread > 0)) {
        process.stderr.write("not read are subfolders, and files whose names are not UTF-8; rename those files\n");
      }
      const none = "no folders; watch one with: transcribe folders add PATH --account NAME";
      printTable(options, folders, (folder) => toJson(store, folder, filesOf(folder)), none, {
        PATH: ({ path }) => printable(path),
        ACCOUNT: ({ accountId }) => getAccount(store, accountId)?.name ?? "-",
        FORMATS: ({ formats }) => formats.join(","),
        WAITING: ({ waiting }) => String(waiting),
        INCOMPLETE: ({ incomplete }) => String(incomplete.length),
        "IN PROGRESS": (folder) => String(filesOf(folder).length),
        DONE: ({ done }) => String(done),
        FAILED: ({ failed }) => String(failed),
        "NOT READ": ({ unread }) => String(unread),
        "LAST VISIT": ({ seenAt }) => readableTime(seenAt),
        STATE: stateOf,
      });
    },
  );
}

function removeCommand(): Command {
  return settingsCommand("remove", "Stop watching a folder. Its files and all recordings stay.")
    .argument("<path>", "its absolute path", absolutePath)
    .action(async (removed: string, options: JsonOption, command: Command) => {
      const marker = await removeFolder(openStoreOf(command), removed, auditor());
      if (marker !== null) {
        process.stderr.write(
          `the file ${printable(marker)} can't be removed now; delete it before the folder is added to another server\n`,
        );
      }
      print(options, { path: removed }, () => `not watching ${printable(removed)} any more; its files stay`);
    });
}

/** Returns the value of an option; null if it is empty, undefined if it was left out. */
function givenOrNone<T>(text: string | undefined, read: (text: string) => T): T | null | undefined {
  if (text === undefined) return undefined;
  return text === "" ? null : read(text);
}

/** Returns a line for a folder that was added, or for each property of a known one that was changed. */
function describeAdded({ folder, before }: AddedFolder): string {
  const path = printable(folder.path);
  if (before === null) return `watching ${path}`;
  const properties = {
    formats: ({ formats }: Folder) => formats.join(","),
    language: ({ language }: Folder) => language ?? "detected",
    translation: ({ isTranslated }: Folder) => (isTranslated ? "to English" : "none"),
    results: ({ target }: Folder) => (target === null ? "next to the recordings" : printable(target)),
    workspace: ({ workspaceId }: Folder) => workspaceId ?? "none",
  };
  const changes = Object.entries(properties).flatMap(([name, textFor]) =>
    textFor(before) === textFor(folder) ? [] : [`${name}: ${textFor(folder)} (was ${textFor(before)})`],
  );
  if (changes.length === 0) return `${path} is watched already; nothing was changed`;
  return [`changed ${path}`, ...changes].join("\n  ");
}

/** Parses formats in any case; each counts once. */
function formatList(text: string): ExportFormat[] {
  return [...new Set(listOf(exportFormats)(text.toLowerCase()))];
}

type Server = typeof import("../../server/index.ts");

/** @throws {UsageError} when the speech model in use does not know the language */
async function languageOf(text: string, server: Server, settings: Settings, store: Store): Promise<string> {
  return await withSpeechModels(server, settings, store, (speech) => {
    const code = text.trim().toLowerCase();
    const codes = speech.languagesOf(speech.current()).map((language) => language.code);
    if (codes.includes(code)) return code;
    throw new UsageError(`the speech model does not know the language ${printable(text)}; it knows ${codes.join(" ")}`);
  });
}

/** @throws {UsageError} when the speech model in use does not translate */
async function requireTranslator(server: Server, settings: Settings, store: Store): Promise<void> {
  const refusal = await withSpeechModels(server, settings, store, (speech) =>
    speech.translationRefusal(speech.current().id),
  );
  if (refusal !== null) throw new UsageError(refusal);
}

async function withSpeechModels<T>(
  { openProgramParts, readSpeechModels }: Server,
  settings: Settings,
  store: Store,
  use: (speech: ReturnType<Server["readSpeechModels"]>) => T,
): Promise<T> {
  const { files, close } = await openProgramParts(settings);
  try {
    if (files instanceof Error) throw files;
    const dataDirectory = new DataDirectory(settings.storage.data_dir);
    return use(readSpeechModels(settings, { files, dataDirectory, database: store }));
  } finally {
    close();
  }
}

/** Returns what the operator must still do for a folder that was added. */
async function notesOn({ folder, isSticky }: AddedFolder, dataDirectory: DataDirectory): Promise<string[]> {
  const { path, target } = folder;
  const notes: string[] = [];
  if (isSticky) {
    notes.push(
      `${printable(path)} has the sticky bit: only its owner and root can move the files of others to done. Remove it: chmod -t ${printable(path)}`,
    );
  }
  const dropIn = installedService("/").dropInFor([path, ...(target === null ? [] : [target])].map(printable));
  if (dropIn.length > 0) {
    notes.push(
      "systemd does not let the service write there. Allow it with `sudo systemctl edit transcribe`, then restart it:",
      ...dropIn.map((line) => `  ${line}`),
    );
  }
  if ((await findRunningServer(dataDirectory)) === null)
    notes.push("no server is running; it watches the folder when it starts");
  return notes;
}

function stateOf({ hindrance, hinderedSince, seenAt }: Folder): string {
  if (hindrance === null) return seenAt === null ? "not visited yet" : "watching";
  return `${hindranceTexts[hindrance].meaning} (since ${readableTime(hinderedSince)})`;
}

function toJson(store: Store, folder: Folder, files: readonly OpenFile[]) {
  const { hindrance } = folder;
  return {
    id: folder.id,
    path: folder.path,
    target: folder.target,
    account_id: folder.accountId,
    account: getAccount(store, folder.accountId)?.name ?? null,
    workspace_id: folder.workspaceId,
    formats: folder.formats,
    language: folder.language,
    translated: folder.isTranslated,
    waiting: folder.waiting,
    incomplete: folder.incomplete.map(({ name, doubt }) => ({ name, reason: doubt, meaning: doubtTexts[doubt] })),
    in_progress: files.length,
    done: folder.done,
    failed: folder.failed,
    not_read: folder.unread,
    hindrance,
    meaning: hindrance === null ? null : hindranceTexts[hindrance].meaning,
    advice: hindrance === null ? null : hindranceTexts[hindrance].advice,
    hindered_since: optionalDate(folder.hinderedSince),
    last_visit: optionalDate(folder.seenAt),
    created_at: date(folder.createdAt),
    files: files.map(({ name, state, recordingId, retryAt, createdAt }) => ({
      name,
      state,
      recording_id: recordingId,
      retry_at: optionalDate(retryAt),
      taken_at: date(createdAt),
    })),
  };
}
