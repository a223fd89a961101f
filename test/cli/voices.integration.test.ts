import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { VoiceAccount, voiceOf } from "../support/voices.ts";
import { Commands, shape, shapes } from "./support.ts";

setDefaultTimeout(60_000);

const voiceShape = shape({
  ...{ id: Type.String(), name: Type.String(), account_id: Type.String(), recordings: Type.Integer() },
  ...{ seconds: Type.Number(), usable: Type.Boolean(), created_by: Type.String(), created_at: Type.String() },
});

describe("transcribe voices", () => {
  const directory = temporaryDirectory();
  const { databasePath } = new DataDirectory(directory.path);
  const store = openDatabase(databasePath);
  const commands = new Commands(directory.path);
  afterAll(() => {
    store.$client.close();
    directory[Symbol.dispose]();
  });
  const list = () => commands.json(Type.Array(voiceShape), "voices", "list", "--account", "acme");

  test("lists, renames and deletes the voices of an account that opted in", async () => {
    const account = await VoiceAccount.create({ store, isOn: false });
    const listed = await commands.run("voices", "list", "--account", "acme");
    expect(listed.stdout).toBe(
      "account acme does not remember voices; to change that: transcribe accounts set acme --voices on\n",
    );
    expect(await commands.json(shapes.account, "accounts", "set", "acme", "--voices", "on")).toMatchObject({
      voices: true,
    });
    expect((await commands.run("voices", "list", "--account", "acme")).stdout).toBe("no voices\n");
    account.remember(account.record([voiceOf(1)]), 0, "Anna\u001b[31m");
    account.remember(account.record([voiceOf(2)]), 0, "Bob");
    const [anna, bob] = await list();
    expect(anna).toMatchObject({ name: "Anna\u001b[31m", recordings: 1, seconds: 20, usable: true });
    expect((await commands.run("voices", "list", "--account", "acme")).stdout).not.toContain("\u001b");
    const renamed = await commands.json(voiceShape, "voices", "rename", anna?.id ?? "", "Anna Meier");
    expect(renamed).toMatchObject({ id: anna?.id, name: "Anna Meier" });
    expect(await commands.refusal("voices", "rename", anna?.id ?? "", "Bob")).toContain("another voice of this name");
    expect(await commands.usageError("voices", "rename", anna?.id ?? "", " ")).toContain("1 to 100 characters");
    await commands.json(voiceShape, "voices", "delete", bob?.id ?? "");
    expect((await list()).map(({ name }) => name)).toEqual(["Anna Meier"]);
    expect(await commands.refusal("voices", "delete", bob?.id ?? "")).toContain("transcribe voices list --account");
    expect(await commands.refusal("voices", "list", "--account", "nobody")).toContain("there is no account nobody");
  });

  test("has nothing left after the account opted out, and other changes do not opt it out", async () => {
    expect(await commands.json(shapes.account, "accounts", "set", "acme", "--priority", "1")).toMatchObject({
      ...{ priority: 1, voices: true },
    });
    const switchOff = ["accounts", "set", "acme", "--voices", "off", "--priority", "2"];
    expect(await commands.usageError(...switchOff)).toContain("confirm it with --yes");
    const off = await commands.json(shapes.account, ...switchOff, "--yes");
    expect(off).toMatchObject({ priority: 2, voices: false });
    expect(await list()).toEqual([]);
    expect(await commands.usageError("accounts", "set", "acme")).toContain("--voices");
    const audit = (await commands.run("audit", "--limit", "3")).stdout;
    expect(audit).toContain("voices.disable");
  });
});
