import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { editingOperations } from "../../src/http/api/editing/operations.ts";
import { furtherOperations, operations } from "../../src/http/api/operations.ts";
import { generatedFiles, sdkFolder } from "../../tools/development/sdk/packages.ts";

const files = generatedFiles();

test.each(Object.keys(files))("sdk/%s is what scripts/sdk generates", (path) => {
  expect(readFileSync(join(sdkFolder, path), "utf8")).toBe(files[path] ?? "");
});

test("the clients have every operation of the API, and no other", () => {
  const methods = files["typescript/src/operations.ts"]?.matchAll(/^ {2}(\w+)\([^)]*\): Promise/gm) ?? [];
  const functions = files["python/transcribe_sdk/operations.py"]?.matchAll(/^ {4}def ([a-z]\w+)\(/gm) ?? [];
  const names = [operations, furtherOperations, editingOperations].flatMap(Object.keys).sort();
  const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  expect([...methods].map(([, name]) => name).sort()).toEqual(names);
  expect([...functions].map(([, name]) => name).sort()).toEqual(names.map(snakeCase).sort());
});
