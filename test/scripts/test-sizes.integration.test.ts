import { expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";

const uses = {
  "a process of Bun": `Bun.spawn(["true"]);`,
  "a process of Node": `(await import("node:child_process")).execFileSync("true");`,
  "a server": "Bun.serve({ port: 0, fetch: () => new Response() });",
  "an addon": `process.dlopen({ exports: {} }, "/nowhere.node");`,
};

/** Runs a test that does one thing. @returns what `bun test` printed */
async function runTest(file: string, body: string): Promise<string> {
  const folder = join(root, "build", `test-sizes-${process.pid}`);
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(
      join(folder, file),
      `import { test } from "bun:test";\ntest("x", async () => { try { ${body} } catch (error) { console.error(String(error)); throw error; } });\n`,
    );
    const child = Bun.spawn([process.execPath, "--no-env-file", "test", "--isolate", join(folder, file)], {
      cwd: root,
      env: { ...process.env, TEST_SIZES: "enforced" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    return await child.stderr.text();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test.each(Object.entries(uses))("a unit test that uses %s fails with advice", async (_, body) => {
  expect(await runTest("x.test.ts", body)).toContain("name the test's size in its file name");
});

test("a test whose name has a size may start a process", async () => {
  expect(await runTest("x.integration.test.ts", uses["a process of Bun"])).toContain(" 1 pass");
});
