// Runs commands without a network. As a program, `offline.ts COMMAND…` runs a command in the network namespace in which
// it was started itself. It exits with the command's exit code, or with 97 when any process tried to leave loopback.
import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAtOnce } from "./run-command.ts";

/** Commands that create a network and mount namespace: as root, or as the root of a user namespace. */
const UNSHARE_COMMANDS = [
  ["unshare", "--net", "--mount"],
  ["unshare", "--user", "--map-root-user", "--net", "--mount"],
];
/** An address for documentation (RFC 5737), which no host has. */
const UNREACHABLE_ADDRESS = "192.0.2.1";
const ATTEMPTED_EXIT_CODE = 97;

/**
 * Returns a command line that runs another one with loopback as its only network, and fails when it tries to leave
 * loopback. Returns null when this user may not create namespaces, or a tool is missing.
 */
export function offline(command: readonly string[]): string[] | null {
  if (["unshare", "ip", "mount"].some((tool) => Bun.which(tool) === null)) return null;
  const unshare = UNSHARE_COMMANDS.find((candidate) => Bun.spawnSync([...candidate, "true"]).exitCode === 0);
  return unshare === undefined ? null : [...unshare, process.execPath, "--no-env-file", import.meta.path, ...command];
}

if (import.meta.main) process.exitCode = await runIsolated(process.argv.slice(2));

async function runIsolated(command: string[]): Promise<number> {
  runAtOnce("ip", "link", "set", "lo", "up");
  // With a name server that listens on loopback, DNS queries would not be counted.
  const nameServers = join(tmpdir(), `resolv-${crypto.randomUUID()}.conf`);
  await Bun.write(nameServers, `nameserver ${UNREACHABLE_ADDRESS}\n`);
  runAtOnce("mount", "--bind", nameServers, "/etc/resolv.conf");
  await requireCounting();
  const before = countAttempts();
  const exitCode = await Bun.spawn(command, { stdio: ["inherit", "inherit", "inherit"] }).exited;
  await Bun.file(nameServers).delete();
  const attempts = countAttempts() - before;
  console.error(`offline: ${attempts === 0 ? "nothing tried" : `${attempts} attempts`} to reach the network`);
  return attempts === 0 ? exitCode : ATTEMPTED_EXIT_CODE;
}

/** Checks that the kernel counts a connection and a DNS query; without counting, a count of zero proves nothing. */
async function requireCounting(): Promise<void> {
  const attempts: [string, () => Promise<unknown>][] = [
    ["a connection", () => tryToConnect(UNREACHABLE_ADDRESS)],
    ["a DNS query", () => lookup("example.com")],
  ];
  for (const [name, attempt] of attempts) {
    const before = countAttempts();
    await attempt().catch(() => {});
    if (countAttempts() === before) throw new Error(`this kernel does not count ${name}`);
  }
}

function tryToConnect(host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: 443 }, resolve);
    socket.on("error", reject);
  });
}

/**
 * Returns how many packets in this network namespace had no route: connections and datagrams, so also DNS queries
 * (RFC 4293, ipSystemStatsOutNoRoutes, for IPv4 and IPv6).
 */
function countAttempts(): number {
  const [names = [], values = []] = readFileSync("/proc/net/snmp", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("Ip:"))
    .map((line) => line.split(" "));
  const ipv4 = Number(values[names.indexOf("OutNoRoutes")]);
  if (!Number.isInteger(ipv4)) throw new Error("this kernel does not count packets without a route");
  return ipv4 + countIpv6Attempts();
}

/** Kernels without IPv6 have no such file. */
function countIpv6Attempts(): number {
  try {
    return Number(/^Ip6OutNoRoutes\s+(\d+)$/m.exec(readFileSync("/proc/net/snmp6", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
