import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { openDatabase } from "../../src/database/index.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { HookReceiver } from "../support/hook-receiver.ts";
import { Shelf } from "../support/shelf.ts";
import { Commands, shape } from "./support.ts";

setDefaultTimeout(60_000);

const nullable = Type.Union([Type.String(), Type.Null()]);
const webhookFields = {
  ...{ id: Type.String(), account_id: Type.String(), account: Type.String(), url: Type.String() },
  ...{ events: Type.Array(Type.String()), created_at: Type.String(), former_secret_until: nullable },
  ...{ paused_at: nullable, pause_reason: nullable, pending: Type.Integer() },
};
const webhookShape = shape(webhookFields);
const newShape = shape({ ...webhookFields, secret: Type.String({ pattern: "^whsec_" }) });
const deliveryShape = shape({
  ...{ id: Type.String(), type: Type.String(), recording_id: nullable, created_at: Type.String() },
  ...{ state: Type.String(), attempts: Type.Integer(), last_attempt_at: nullable },
  ...{ last_status: Type.Union([Type.Integer(), Type.Null()]), last_fault: nullable },
  ...{ last_milliseconds: Type.Union([Type.Integer(), Type.Null()]), next_attempt_at: nullable },
  ...{ delivered_at: nullable },
});

describe("transcribe webhooks", () => {
  const directory = temporaryDirectory();
  const store = openDatabase(new DataDirectory(directory.path).databasePath);
  const shelf = new Shelf(Date.now, store);
  const commands = new Commands(directory.path);
  const settings = join(directory.path, "settings.toml");
  writeFileSync(settings, '[webhooks]\nallow = ["127.0.0.0/8"]\n');
  afterAll(() => {
    store.$client.close();
    directory[Symbol.dispose]();
  });

  test("adds, tests, pauses, resumes, rotates and removes a webhook, and shows its secret only when it is made", async () => {
    await using receiver = await HookReceiver.start();
    const { url } = receiver;
    const add = ["webhooks", "add", url, "--account", "acme"];
    expect(await commands.refusal(...add)).toContain("webhooks.allow can permit hosts and networks");
    const events = ["--events", "recording.completed,recording.failed"];
    const added = await commands.json(newShape, ...add, ...events, "--config", settings);
    expect(added).toMatchObject({ url, account: "acme", events: ["recording.completed", "recording.failed"] });
    const list = () => commands.json(Type.Array(webhookShape), "webhooks", "list", "--account", "acme");
    expect(JSON.stringify(await list())).not.toContain(added.secret);
    const test = ["webhooks", "test", added.id, "--config", settings];
    expect(await commands.json(deliveryShape, ...test)).toMatchObject({ state: "delivered", last_status: 204 });
    expect(receiver.messages.map(({ type }) => type)).toEqual(["ping"]);
    await commands.json(webhookShape, "webhooks", "pause", added.id);
    const { id } = shelf.completed([]).recording;
    expect(await list()).toMatchObject([{ pause_reason: "command", pending: 1 }]);
    expect(await commands.json(Type.Array(deliveryShape), "webhooks", "show", added.id)).toMatchObject([
      { type: "recording.completed", recording_id: id, state: "pending", attempts: 0, last_status: null },
      { type: "ping", recording_id: null, state: "delivered", attempts: 1, last_status: 204 },
    ]);
    expect((await commands.run("webhooks", "list")).stdout).toContain("by a command");
    expect((await commands.run("webhooks", "resume", added.id)).stdout).toContain("1 events are pending");
    const rotated = await commands.json(newShape, "webhooks", "rotate", added.id, "--overlap", "1h");
    expect(rotated.secret).not.toBe(added.secret);
    receiver.answer = (_, response) => void response.writeHead(500).end();
    const failed = await commands.run(...test);
    expect([failed.exitCode, failed.stdout]).toEqual([1, expect.stringMatching(/^failed: 500 after \d+ ms\n$/)]);
    await commands.run("webhooks", "remove", added.id);
    expect(await list()).toEqual([]);
    expect(await commands.refusal("webhooks", "show", added.id)).toContain("transcribe webhooks list");
    const audit = (await commands.run("audit")).stdout;
    for (const action of ["add", "pause", "resume", "rotate", "remove"]) expect(audit).toContain(`webhooks.${action}`);
    expect(audit).not.toContain("whsec_");
  });

  test("refuses addresses that lead into the machine's networks", async () => {
    for (const url of ["https://localhost/", "https://[::1]/", "https://169.254.169.254/", "http://93.184.215.14/"]) {
      expect(await commands.refusal("webhooks", "add", url, "--account", "acme")).toContain("webhooks.allow");
    }
  });
});
