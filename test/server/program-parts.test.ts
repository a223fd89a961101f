import { expect, test } from "bun:test";
import { join } from "node:path";
import { runtimeDirectoryOf } from "../../src/config/index.ts";

test.each([
  ["data", "", "data/runtime"],
  ["/var/lib/transcribe", "", "/var/lib/transcribe/runtime"],
  ["data", "parts", "parts"],
  ["data", "/opt/parts", "/opt/parts"],
])(
  "with data_dir %j and runtime_dir %j, the program's files are unpacked below an absolute path",
  (data_dir, runtime_dir, expected) => {
    const absolute = expected.startsWith("/") ? expected : join(process.cwd(), expected);
    expect(runtimeDirectoryOf({ storage: { data_dir, runtime_dir } })).toBe(absolute);
  },
);
