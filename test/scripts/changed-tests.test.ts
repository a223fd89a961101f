import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { testsOfChange } from "../../tools/development/changed-tests.ts";

const files: Record<string, string> = {
  "src/http/errors.ts": "export const code = 1;",
  "src/http/envelope.ts": `import { code } from "./errors.ts"; export const envelope = code;`,
  "src/http/index.ts": `export { envelope } from "./envelope.ts";`,
  "src/http/upload/part.ts": "export type Part = string;",
  "src/text/index.ts": "export const text = 1;",
  "harness/server.ts": `import { envelope } from "../src/http/index.ts"; export const server = envelope;`,
  "test/http/answers.integration.test.ts": `import { server } from "../../harness/server.ts";`,
  "test/http/browser.slow.test.ts": `import { server } from "../../harness/server.ts";`,
  "test/http/matrix.full.test.ts": `import { code } from "../../src/http/errors.ts";`,
  "test/http/upload/part.model.test.ts": "",
  "test/cli/errors.integration.test.ts": `import { code } from "../../src/http/errors.ts";`,
  "test/cli/serve.integration.test.ts": `import { server } from "../../harness/server.ts";`,
  "test/cli/part.test.ts": `import type { Part } from "../../src/http/upload/part.ts";`,
  "test/console/page.test.ts": `import { envelope } from "../../src/http/index.ts";`,
  "test/text/lines.test.ts": `import { text } from "../../src/text/index.ts";`,
};

test.each([
  [
    "a file: unit tests that reach it, others that import it, and those of its folder",
    ["src/http/errors.ts"],
    ["test/cli/errors.integration", "test/console/page", "test/http/answers.integration"],
  ],
  [
    "a file of a folder without tests: those of the folder above",
    ["src/http/index.ts"],
    ["test/console/page", "test/http/answers.integration"],
  ],
  [
    "a type: tests that import only the type",
    ["src/http/upload/part.ts"],
    ["test/cli/part", "test/http/upload/part.model"],
  ],
  ["a slow test: itself", ["test/http/browser.slow.test.ts"], ["test/http/browser.slow"]],
  [
    "a helper of tests: those that import it",
    ["harness/server.ts"],
    ["test/cli/serve.integration", "test/http/answers.integration"],
  ],
  ["a page of the documentation: none", ["docs/api.md"], []],
])("the tests of a change are for %s", async (_, changed, expected) => {
  using directory = temporaryDirectory();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory.path, file)), { recursive: true });
    writeFileSync(join(directory.path, file), text);
  }
  const tests = Object.keys(files).filter((file) => file.includes(".test."));
  const found = await testsOfChange(directory.path, changed, tests);
  expect(found.toSorted()).toEqual(expected.map((name) => `${name}.test.ts`));
});
