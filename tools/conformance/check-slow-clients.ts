import { TestServer } from "../../harness/server.ts";
import { createLink } from "../../src/console/index.ts";
import { openDatabaseOf } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { messageOf } from "../../src/text/index.ts";
import { CommandError, runCommand } from "../shared/run-command.ts";
import type { ConformanceOutcome } from "./check-conformance.ts";

/** Connections of each slowhttptest; the attacks of one mode run at the same time. */
const CONNECTIONS = 100;
/** Duration of a mode. After 30 s the server closes connections with incomplete headers. */
const MODE_SECONDS = 45;
/** Time limit for another client's successful request during an attack, on a busy machine. */
const PATIENCE_MILLISECONDS = 20_000;
const PAUSE_MILLISECONDS = 200;

const LARGE_FILE = "/docs/swagger-ui-bundle.js";
const TRANSCRIPTIONS = "/api/public/v1/transcriptions";

/**
 * Options of slowhttptest, and every kind of route: without a key, of the API, of the console, with small and large responses, and unknown paths.
 */
const ATTACKS = [
  {
    name: "slow headers",
    mode: "-H -i 5 -x 24",
    targets: ["GET /readyz", `POST ${TRANSCRIPTIONS}`, "GET /console/data/overview"],
  },
  {
    name: "slow bodies",
    mode: "-B -i 5 -s 1000000 -x 10",
    targets: [
      ...[`POST ${TRANSCRIPTIONS}`, `DELETE ${TRANSCRIPTIONS}/42`, "POST /console/data/session"],
      ...["GET /console/data/overview", "POST /healthz", "POST /nothing"],
    ],
  },
  {
    name: "slow reads",
    mode: "-X -n 5 -w 1 -y 64 -z 5 -k 3",
    targets: [`GET ${LARGE_FILE}`, "GET /openapi.json", "GET /console/", "GET /console/data/events", "GET /metrics"],
  },
  {
    name: "ranges",
    mode: "-R -a 5 -b 2000",
    targets: [`HEAD ${LARGE_FILE}`, "GET /console/", `GET ${TRANSCRIPTIONS}`],
  },
];

/**
 * Attacks every kind of route of the real server with slowhttptest, while another client requests /readyz and the API.
 * @returns "skipped" and logs the reason when slowhttptest is not installed and cannot be installed
 */
export async function checkSlowClients(): Promise<ConformanceOutcome> {
  if (!(await isInstalled())) {
    console.warn("SKIPPED: slow clients; slowhttptest is missing (on Debian: apt install slowhttptest)");
    return "skipped";
  }
  await using server = new TestServer({
    TRANSCRIBE_CONSOLE_ENABLED: "true",
    TRANSCRIBE_LIMITS_FAILED_AUTHENTICATIONS_PER_MINUTE: "1000000",
  });
  await server.start();
  const { key } = server.client("bystander");
  const cookie = await enterConsole(server);
  let failed = false;
  for (const attack of ATTACKS) {
    const ended = new AbortController();
    const asking = askMeanwhile(server, key, ended.signal);
    const reports = await Promise.all(attack.targets.map((each) => slowhttptest(server, attack.mode, each, cookie)));
    ended.abort();
    const { answers, slowest, faults } = await asking;
    console.log(`${attack.name}: ${answers} responses to another client, the slowest after ${slowest} ms`);
    for (const report of reports) console.log(`  ${report}`);
    for (const fault of faults) console.error(`  another client: ${fault}`);
    if (faults.length > 0 || answers === 0) failed = true;
  }
  const errors = server.log.filter(({ level, event }) => level === "error" || event === "http.unexpected_error");
  for (const line of errors) console.error(JSON.stringify(line));
  return failed || errors.length > 0 ? "failed" : "passed";
}

async function isInstalled(): Promise<boolean> {
  if (Bun.which("slowhttptest") !== null) return true;
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) return false;
  try {
    await runCommand(["apt-get", "install", "--yes", "--no-install-recommends", "slowhttptest"], {
      timeoutMs: 120_000,
    });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.warn(error.message);
  }
  return Bun.which("slowhttptest") !== null;
}

/** Signs in with a link. @returns the session's cookie */
async function enterConsole(server: TestServer): Promise<string> {
  const store = openDatabaseOf(new DataDirectory(server.dataDirectory));
  try {
    const { token } = createLink(store, { actor: "conformance", now: Date.now() });
    const response = await fetch(`${server.origin}/console/data/session`, {
      method: "POST",
      headers: { "Sec-Fetch-Site": "same-origin", "X-Transcribe-Console": "1" },
      body: JSON.stringify({ token }),
    });
    if (!response.ok) throw new Error(`no session: ${response.status} ${await response.text()}`);
    return response.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  } finally {
    store.$client.close();
  }
}

/** Runs slowhttptest against one path. @returns its last counts of connections in one line */
async function slowhttptest({ origin }: TestServer, mode: string, target: string, cookie: string): Promise<string> {
  const [method = "", path = ""] = target.split(" ");
  const child = Bun.spawn(
    [
      ...["slowhttptest", ...mode.split(" "), "-u", origin + path, "-t", method, "-j", cookie],
      ...["-c", String(CONNECTIONS), "-r", String(CONNECTIONS), "-l", String(MODE_SECONDS), "-p", "5"],
    ],
    { stdio: ["ignore", "pipe", "ignore"], timeout: (MODE_SECONDS + 15) * 1000, killSignal: "SIGKILL" },
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the tool colours its output
  const output = (await new Response(child.stdout).text()).replace(/\u001b\[[\d;]*[A-Za-z]/g, "");
  const count = (name: string) => [...output.matchAll(new RegExp(`^${name}:\\s+(\\w+)`, "gm"))].at(-1)?.[1] ?? "?";
  const counts = ["connected", "closed", "error"].map((name) => `${count(name)} ${name}`);
  const status = /Exit status:\s*(.+)/.exec(output)?.[1] ?? `exit code ${child.exitCode}`;
  return `${target}: ${counts.join(", ")}; service available: ${count("service available")}; ${status.trim()}`;
}

/**
 * Sends requests like a normal client until the attack ends; a path without a successful response in time is a fault.
 */
async function askMeanwhile(server: TestServer, key: string, ended: AbortSignal) {
  const faults: string[] = [];
  let answers = 0;
  let slowest = 0;
  while (!ended.aborted) {
    for (const path of ["/readyz", TRANSCRIPTIONS, "/api/public/v1/languages"]) {
      const startedAt = performance.now();
      let outcome = "";
      do outcome = await ask(server.origin + path, key);
      while (outcome !== "" && performance.now() - startedAt < PATIENCE_MILLISECONDS);
      if (outcome === "") answers += 1;
      else faults.push(`${path}: ${outcome}`);
      slowest = Math.max(slowest, Math.round(performance.now() - startedAt));
    }
    await Bun.sleep(PAUSE_MILLISECONDS);
  }
  return { answers, slowest, faults };
}

/** @returns the reason of a failure; empty on success */
async function ask(url: string, key: string): Promise<string> {
  try {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
    const text = await response.text();
    return response.ok ? "" : `${response.status} ${text}`;
  } catch (error) {
    return messageOf(error);
  }
}
