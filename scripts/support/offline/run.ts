// Runs a command in the network namespace that it is started in: `run.ts COMMAND…`. Ends as the command ends, or with 97 when
// the command, or anything that it started, tried to reach something beyond loopback.
import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { triesToLeave } from "./counters.ts";

/** Addresses for documentation (RFC 5737, RFC 3849): nobody has them. */
const unreachable = ["192.0.2.1", "2001:db8::1"];
const triedExitCode = 97;

/** Otherwise a name server that listens on loopback would seem to be there, and questions to it would not be counted. */
async function askUnreachableNameServer(file: string): Promise<void> {
  await Bun.write(file, `nameserver ${unreachable[0]}\n`);
  prepare("mount", "--bind", file, "/etc/resolv.conf");
}

function prepare(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}

/** What counts nothing proves nothing: a connection and a look-up of a name must each be counted. */
async function checkThatTriesAreCounted(): Promise<void> {
  const tries: [string, () => Promise<unknown>][] = [
    ["a connection", () => tryToConnect(unreachable[0] ?? "")],
    ["the look-up of a name", () => lookup("example.com")],
  ];
  for (const [what, attempt] of tries) {
    const before = triesToLeave();
    await attempt().catch(() => {});
    if (triesToLeave() === before) throw new Error(`${what} is not counted here`);
  }
}

function tryToConnect(host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 443 }, resolve);
    socket.on("error", reject);
  });
}

prepare("ip", "link", "set", "lo", "up");
const nameServers = join(tmpdir(), `resolv-${crypto.randomUUID()}.conf`);
await askUnreachableNameServer(nameServers);
await checkThatTriesAreCounted();
const before = triesToLeave();
const child = Bun.spawn(process.argv.slice(2), { stdio: ["inherit", "inherit", "inherit"] });
const exitCode = await child.exited;
await Bun.file(nameServers).delete();
const tries = triesToLeave() - before;
console.error(`offline: ${tries === 0 ? "nothing" : `${tries} times something`} tried to reach the network`);
process.exitCode = tries === 0 ? exitCode : triedExitCode;
