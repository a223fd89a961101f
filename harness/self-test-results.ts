import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { areVerdicts } from "../src/devices/index.ts";
import { DataDirectory } from "../src/storage/index.ts";
import { root } from "./checkout.ts";

/** Results that the servers of all runs share, in the form of a data directory's file. Their keys name CPU and files. */
const SHARED = join(root, "build/test-devices.json");
/** Maximum number of shared verdicts. Models that a test writes itself have a key of their own in each run. */
const MAX_VERDICTS = 300;

/** The parts of the file that are shared. */
interface Content {
  readonly version: 1;
  readonly verdicts: Readonly<Record<string, { readonly state: string; readonly holdsUntil?: number }>>;
  readonly gpus?: Readonly<Record<string, unknown>>;
}

/** Results of the first server in this process, also the failures. */
let own: string | null = null;

/**
 * Gives a data directory without self-test results the known ones, because the self-tests of a server take seconds.
 * @returns a function to be called once the server is ready. It stores the results of self-tests that ran
 */
export function reuseSelfTests(dataDirectory: string): () => void {
  const { verdicts } = new DataDirectory(dataDirectory);
  if (existsSync(verdicts)) return () => {};
  const known = own ?? JSON.stringify(readContent(SHARED));
  writeFileSync(verdicts, known, { mode: 0o600 });
  return () => {
    if (!existsSync(verdicts)) return;
    const found = readFileSync(verdicts, "utf8");
    own ??= found;
    if (found !== known) share(readContent(verdicts));
  };
}

/**
 * Adds results for later processes, by replacing the file at once. A result that another process adds at the same time
 * may be lost. Failures are not shared: each process finds them again.
 */
function share({ verdicts, gpus }: Content): void {
  const before = readContent(SHARED);
  const lasting = Object.entries(verdicts).filter(
    ([, { state, holdsUntil }]) => state !== "failed" && holdsUntil === undefined,
  );
  const latest = Object.entries({ ...before.verdicts, ...Object.fromEntries(lasting) }).slice(-MAX_VERDICTS);
  const content: Content = { version: 1, verdicts: Object.fromEntries(latest), gpus: { ...before.gpus, ...gpus } };
  mkdirSync(dirname(SHARED), { recursive: true });
  const temporary = `${SHARED}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(content), { mode: 0o600 });
  renameSync(temporary, SHARED);
}

/** Returns the content of a file with results. A missing or damaged one counts as empty. */
function readContent(path: string): Content {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  return areVerdicts(text) ? JSON.parse(text) : { version: 1, verdicts: {} };
}
