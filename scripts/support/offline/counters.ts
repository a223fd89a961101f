import { readFileSync } from "node:fs";

/**
 * How often something in this network namespace wanted to send to an address that no route leads to: connections that were
 * tried and datagrams, and so questions to name servers too (RFC 4293, ipSystemStatsOutNoRoutes, for IPv4 and IPv6).
 */
export function triesToLeave(): number {
  return ofIpv4() + ofIpv6();
}

function ofIpv4(): number {
  const [names = [], values = []] = readFileSync("/proc/net/snmp", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("Ip:"))
    .map((line) => line.split(" "));
  const count = Number(values[names.indexOf("OutNoRoutes")]);
  if (!Number.isInteger(count)) throw new Error("this kernel does not count what it has no route for");
  return count;
}

/** Kernels without IPv6 have no such file. */
function ofIpv6(): number {
  try {
    return Number(/^Ip6OutNoRoutes\s+(\d+)$/m.exec(readFileSync("/proc/net/snmp6", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
