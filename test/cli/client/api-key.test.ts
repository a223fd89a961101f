import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { findApiKey } from "../../../src/cli/client/api-key.ts";

function keyFile(directory: string, name: string, text: string, mode: number): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

test("a named key file overrides the environment, which overrides the user's key file", () => {
  using home = temporaryDirectory();
  mkdirSync(join(home.path, ".config/transcribe"), { recursive: true });
  keyFile(home.path, ".config/transcribe/key", "trs_user\n", 0o600);
  const named = keyFile(home.path, "named", "trs_named\n", 0o400);
  const environment = { HOME: home.path, TRANSCRIBE_API_KEY: " trs_environment " };
  expect(findApiKey(named, environment)).toBe("trs_named");
  expect(findApiKey(undefined, environment)).toBe("trs_environment");
  expect(findApiKey(undefined, { HOME: home.path })).toBe("trs_user");
  expect(findApiKey(undefined, { HOME: home.path, TRANSCRIBE_API_KEY: "" })).toBe("trs_user");
  const elsewhere = { HOME: "/nowhere", XDG_CONFIG_HOME: join(home.path, ".config") };
  expect(findApiKey(undefined, elsewhere)).toBe("trs_user");
});

test.each([0o640, 0o604, 0o644, 0o660, 0o620])(
  "a key file of mode %o is refused, with the command that restricts it",
  (mode) => {
    using directory = temporaryDirectory();
    const path = keyFile(directory.path, "key", "trs_secret\n", mode);
    const refused = () => findApiKey(path, {});
    expect(refused).toThrow(`chmod 600 ${path}`);
    expect(refused).not.toThrow("trs_secret");
  },
);

test.each(["", "two keys\n", "a\nb\n", "trs_ü\n"])(
  "a key file with the content %j is refused, and its content is not shown",
  (text) => {
    using directory = temporaryDirectory();
    const path = keyFile(directory.path, "key", text, 0o600);
    expect(() => findApiKey(path, {})).toThrow("one API key and nothing else");
  },
);

test("the message without a key explains where to put one and how to create one", () => {
  const find = () => findApiKey(undefined, { HOME: "/nowhere" });
  expect(find).toThrow("/nowhere/.config/transcribe/key");
  expect(find).toThrow("transcribe keys create");
});

test("a named key file that is a directory or missing is refused", () => {
  using directory = temporaryDirectory();
  expect(() => findApiKey(directory.path, {})).toThrow("not a regular file");
  expect(() => findApiKey(join(directory.path, "none"), { TRANSCRIBE_API_KEY: "x" })).toThrow("there is no key file");
});
