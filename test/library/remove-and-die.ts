// Removes a recording in one way, and ends this process with SIGKILL before a step of it: DIRECTORY WAY STEP.
import { requireAccount } from "../../src/accounts/index.ts";
import { openDatabase } from "../../src/database/index.ts";
import { applyRetention, Library, type Operator, removeAccount } from "../../src/library/index.ts";
import { Recordings } from "../../src/recordings/index.ts";
import { DataDirectory, RecordingFiles } from "../../src/storage/index.ts";
import { Usage } from "../../src/usage/index.ts";
import { dieAtStep } from "../support/die-at-step.ts";

type Way = "application" | "operator" | "retention" | "withdrawal" | "account" | "rerun";

const [path = "", way, step = ""] = process.argv.slice(2);
const dataDirectory = new DataDirectory(path);
const store = openDatabase(dataDirectory.databasePath);
const now = Date.now;
const recordings = new Recordings(store, now);
const endExports = () => die();
const services = { store, recordings, dataDirectory, usage: new Usage(store), endExports, now };
const library = new Library(services);
const account = requireAccount(store, "acme");
const operator: Operator = { kind: "operator", actor: "operator" };
const [{ id } = { id: "" }] = recordings
  .list({ accountId: account.id, includesTransient: true }, 2)
  .filter(({ rerunOf }) => rerunOf === null);

const removals: Record<Way, () => Promise<unknown>> = {
  application: () => library.remove({ kind: "application", account, workspaceId: null }, id),
  operator: () => library.remove(operator, id),
  rerun: () => library.remove(operator, id),
  retention: () => applyRetention(services, { audioDays: 100, completedDays: 1 }, now() + 10 * 86_400_000),
  withdrawal: () => library.transient.withdraw(id),
  account: () => removeAccount(services, operator, account),
};

const die = dieAtStep(Number(step));
for (const name of ["removeWork", "removePlayback"] as const) {
  const original = RecordingFiles.prototype[name];
  RecordingFiles.prototype[name] = function (this: RecordingFiles) {
    die();
    return original.call(this);
  };
}
if (way === undefined || !(way in removals)) throw new Error(`there is no way ${way}`);
await removals[way as keyof typeof removals]();
