import { expect, test } from "bun:test";
import { join } from "node:path";

test("an API key in an error or a request id is replaced in the log", async () => {
  const key = `trs_${"A1b2".repeat(12)}x`;
  const log = join(import.meta.dir, "../../src/telemetry/index.ts");
  const script = `
    import { createLogger } from ${JSON.stringify(log)};
    const log = createLogger("info");
    log.warn({ event: "odd", requestId: process.argv[1], err: new Error("no " + process.argv[1]) }, process.argv[1]);
    log.info({ event: "plain", hint: "trs_A1b2C3" });`;
  const child = Bun.spawn([process.execPath, "-e", script, key], { stdio: ["ignore", "ignore", "pipe"] });
  const lines = (await new Response(child.stderr).text()).trim().split("\n");
  expect(await child.exited).toBe(0);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: "odd", requestId: "trs_***", err: { message: "no trs_***" }, msg: "trs_***" },
    { event: "plain", hint: "trs_A1b2C3" },
  ]);
});
