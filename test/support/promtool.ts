import { join } from "node:path";
import { debianTool } from "./debian-tool.ts";

/**
 * Returns the path of Prometheus's promtool: an installed one, or that of Debian's package, which is not installed, because
 * it would start a server. Returns null where it cannot be had, and says so.
 */
export async function promtoolProgram(what: string): Promise<string | null> {
  const installed = Bun.which("promtool");
  if (installed !== null) return installed;
  const directory = await debianTool({ program: "promtool", packages: ["prometheus"], skipped: what });
  return directory && join(directory, "usr/bin/promtool");
}
