import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { Recordings } from "../../src/recordings/index.ts";
import { Transcript } from "../../src/transcripts/index.ts";
import { ApiServer } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";
import { Commands, shapes } from "./support.ts";

setDefaultTimeout(60_000);

const list = Type.Array(shapes.recording);

describe("transcribe recordings, with a running server,", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());
  const commands = new Commands(server.dataDirectory.root);
  const client = server.client("first");
  const other = server.client("second");
  const failed = server.enterFailed(client.accountId);
  const completed = server.enterCompleted(client.accountId, 2);
  const processing = server.enterProcessing(client.accountId);
  const queued = server.enterQueued(other.accountId);
  const statusOf = async (id: string, by = client) => (await by.get(id)).status;

  test("list prints recordings newest first, by account and status, up to the limit", async () => {
    const cases: [string, string[]][] = [
      ["recordings list", [queued, processing, completed, failed]],
      ["recordings list --account first", [processing, completed, failed]],
      ["recordings list --status queued,failed", [queued, failed]],
      ["recordings list --limit 2", [queued, processing]],
    ];
    for (const [line, expected] of cases) {
      expect((await commands.json(list, ...line.split(" "))).map(({ id }) => id)).toEqual(expected);
    }
    const { stdout } = await commands.run("recordings", "list");
    expect(stdout).toMatch(/^ID +STATUS/);
    expect(stdout.trim().split("\n")).toHaveLength(5);
    expect(await commands.usageError("recordings", "list", "--status", "done")).toContain("done");
    expect(await commands.refusal("recordings", "list", "--account", "nobody")).toContain("nobody");
  });

  test("show prints the internal cause of a failure, which the API does not", async () => {
    expect(await commands.json(shapes.recording, "recordings", "show", failed)).toMatchObject({
      id: failed,
      status: "failed",
      failure_reason: "internal",
      failure_cause: "fetch_blocked_address",
    });
    expect((await commands.run("recordings", "show", failed)).stdout).toMatch(/failure_cause +fetch_blocked_address/);
    expect(await (await client.fetch(`/transcriptions/${failed}`)).text()).not.toContain("fetch");
  });

  test("show prints the machines of a fleet that computed a recording's parts, and nothing of the kind without a fleet", async () => {
    const shown = async (id: string) => (await commands.run("recordings", "show", id)).stdout;
    expect(await shown(processing)).not.toContain("machine");
    for (const machine of ["gpu2", "gpu1", "gpu2"])
      new Recordings(server.store, Date.now).rows.countPart(processing, machine);
    expect(await shown(processing)).toMatch(/^parts_by_machine +gpu1 1, gpu2 2$/m);
    expect(JSON.parse((await commands.run("recordings", "show", processing, "--json")).stdout).machines).toEqual([
      { machine: "gpu1", parts: 1 },
      { machine: "gpu2", parts: 2 },
    ]);
  });

  test("show prints the models that recognized a recording's parts if another one than its own did", async () => {
    const { rows } = new Recordings(server.store, Date.now);
    const shown = async () => (await commands.run("recordings", "show", processing)).stdout;
    const own = server.recordings.get(processing)?.speechModel ?? "";
    rows.countRecognized(processing, own, 1);
    expect(await shown()).not.toContain("parts_by_model");
    rows.countRecognized(processing, "parakeet", 2);
    expect(await shown()).toContain(`\nparts_by_model `);
    expect(await shown()).toContain(` parakeet 2, ${own} 1\n`);
    expect(JSON.parse((await commands.run("recordings", "show", processing, "--json")).stdout).models).toEqual([
      { model: "parakeet", parts: 2 },
      { model: own, parts: 1 },
    ]);
  });

  test("show prints the revisions of a transcript, with the people who made them", async () => {
    expect((await commands.run("recordings", "show", completed, "--revisions")).stdout).toContain(
      "nobody has corrected",
    );
    const recording = server.recordings.get(completed);
    if (recording === null) throw new Error("the recording is missing");
    new Transcript(server.store, recording).correct(
      { action: "text", segment: 0, text: "Corrected." },
      { author: "anna (console)", editor: "page-one", sequence: 1, seen: 0, now: server.now() },
    );
    const { stdout } = await commands.run("recordings", "show", completed, "--revisions");
    expect(stdout).toMatch(/^1 .* anna \(console\) +text +1$/m);
    expect(stdout).not.toContain("Corrected.");
    const [revision] = JSON.parse(
      (await commands.run("recordings", "show", completed, "--revisions", "--json")).stdout,
    );
    expect(revision).toMatchObject({ number: 1, author: "anna (console)", action: "text", segments: 1 });
    expect(await commands.refusal("recordings", "show", processing, "--revisions")).toContain("is processing");
  });

  test("hold prevents deletion by a client and by the operator until release", async () => {
    const held = await commands.json(shapes.recording, "recordings", "hold", completed);
    expect(held.held_since).not.toBeNull();
    expect((await commands.json(shapes.recording, "recordings", "hold", completed)).held_since).toBe(held.held_since);
    const remove = () => client.fetch(`/transcriptions/${completed}`, { method: "DELETE" });
    expect(await refusalOf(await remove())).toBe("403 forbidden");
    expect(await commands.refusal("recordings", "delete", completed)).toContain("held");
    expect((await commands.json(shapes.recording, "recordings", "release", completed)).held_since).toBeNull();
    await commands.json(shapes.recording, "recordings", "release", completed);
    expect((await remove()).status).toBe(204);
  });

  test("cancel fails queued and processing recordings as internal, refunds their audio, and refuses failed ones", async () => {
    server.usage.admit(client.accountId, processing, 1000, server.now());
    server.usage.chargeAudio(processing, 60, 1000);
    for (const [id, by] of [
      [processing, client],
      [queued, other],
    ] as const) {
      expect(await commands.json(shapes.recording, "recordings", "cancel", id)).toMatchObject({
        status: "failed",
        failure_reason: "internal",
        failure_cause: "cancelled",
      });
      expect(await statusOf(id, by)).toBe("failed");
      expect(await commands.refusal("recordings", "cancel", id)).toContain("failed");
    }
    expect(server.recordings.open.countOf(client.accountId)).toBe(0);
    expect(server.usage.audioSeconds(client.accountId, server.now())).toBe(0);
  });

  test("delete removes files and transcript of a completed or failed recording, and refuses others", async () => {
    const open = server.enterProcessing(client.accountId);
    const ended = server.enterCompleted(client.accountId, 400);
    for (const id of [open, ended]) writeFileSync(server.dataDirectory.localAudio.pathOf(id), "audio");
    expect(await commands.refusal("recordings", "delete", open)).toContain("cancel it first");
    await commands.json(shapes.recording, "recordings", "delete", ended);
    expect(await refusalOf(await client.fetch(`/transcriptions/${ended}`))).toBe("404 not_found");
    expect(server.filesIn("uploads")).toEqual([open]);
    expect(server.filesHolding("Segment 399.")).toEqual([]);
    expect(await commands.refusal("recordings", "delete", ended)).toContain("transcribe recordings list");
  });

  test("every change has an entry in the audit log, and a refused change has none", async () => {
    const entries = await commands.json(Type.Array(shapes.auditEntry), "audit");
    const ofRecordings = entries.filter(({ action }) => action.startsWith("recordings.")).reverse();
    expect(ofRecordings.map(({ action }) => action)).toEqual([
      "recordings.hold",
      "recordings.release",
      "recordings.delete",
      "recordings.cancel",
      "recordings.cancel",
      "recordings.delete",
    ]);
    const subjects = [completed, completed, expect.any(String), processing, queued];
    expect(ofRecordings.slice(0, 5).map(({ subject }) => subject)).toEqual(subjects);
  });
});
