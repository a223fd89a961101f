import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import { scopes } from "../../../src/keys/index.ts";
import { enterSaid } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { runHere } from "../run-here.ts";

setDefaultTimeout(120_000);

const server = new ApiServer({ recordingsPerAccount: 100 });
const home = temporaryDirectory();
afterAll(() => {
  server[Symbol.dispose]();
  home[Symbol.dispose]();
});

const { key, accountId } = server.client("first", { scopes });
const environment = { HOME: home.path, TRANSCRIBE_SERVER: server.origin, TRANSCRIBE_API_KEY: key };
const run = (...args: string[]) => runHere(args, environment);
const nowhere = Bun.randomUUIDv7();

describe("a client command that changes recordings", () => {
  test("cancel accepts several ids, and reports each that it could not cancel", async () => {
    const open = [server.enterQueued(accountId), server.enterProcessing(accountId)];
    const completed = server.enterCompleted(accountId, 1);
    const { exitCode, stdout, stderr } = await run("cancel", ...open, completed, nowhere);
    expect([exitCode, stdout]).toEqual([1, open.map((id) => `cancelled ${id}\n`).join("")]);
    expect(stderr).toContain(`${completed}: the server answered 409, transcription_has_ended`);
    expect(stderr).toContain(`${nowhere}: the server answered 404`);
    expect(open.map((id) => server.recordings.get(id)?.failureCause)).toEqual(["cancelled", "cancelled"]);
    expect(JSON.parse((await run("cancel", open[0] ?? "", "--json")).stdout)).toEqual([
      { id: open[0], cancelled: true, error: null },
    ]);
  });

  test("speakers lists, names and merges the speakers", async () => {
    const id = enterSaid(server, accountId, ["Good morning.", "Yes.", "Well."]);
    expect((await run("speakers", id)).stdout).toMatch(/^SPEAKER +NAME\nA +-\nB +-\n$/);
    const named = await run("speakers", id, "--name", "A=Ada \x1b[2JLovelace", "--name", "B=Bob", "--json");
    expect(JSON.parse(named.stdout)).toMatchObject([{ speaker: "A" }, { speaker: "B", name: "Bob" }]);
    expect((await run("speakers", id)).stdout).not.toContain("\x1b");
    const merged = await run("speakers", id, "--name", "A=", "--merge", "B=A", "--json");
    expect(JSON.parse(merged.stdout)).toEqual([{ speaker: "A", name: null }]);
    expect((await run("speakers", id, "--name", "C=Eve")).stderr).toContain("The transcript has no speaker C.");
  });

  test("tags lists, adds, removes and replaces tags, by which list and search choose recordings", async () => {
    const id = enterSaid(server, accountId, ["The annual budget."], { sourceName: "board" });
    enterSaid(server, accountId, ["Another budget."]);
    server.events.deliver();
    expect((await run("tags", id, "--add", "board, 2026,old", "--remove", "old")).stdout).toBe("2026\nboard\n");
    expect(JSON.parse((await run("tags", id, "--set", "board", "--json")).stdout)).toEqual(["board"]);
    const listed = await run("list", "--tag", "board", "--json");
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id }]);
    while (server.appOptions.searchIndexer.isBusy) await Bun.sleep(5);
    const found = await run("search", "annual", "budget", "--tag", "board");
    expect(found.stdout).toBe(`${id}  board  #board\n  0:00.0  The annual budget.\n`);
    expect(JSON.parse((await run("search", "budget", "--json")).stdout)).toHaveLength(2);
    expect((await run("search", "nothing")).stdout).toBe("no recordings\n");
    expect((await run("tags", id, "--set", "")).stdout.trim()).toBe("");
    expect(JSON.parse((await run("tags", id, "--json")).stdout)).toEqual([]);
  });

  test("is refused with 5 for a key without the scope, and names it", async () => {
    const usual = server.client("first").key;
    const id = server.enterQueued(accountId);
    const refused = await runHere(["cancel", id], { ...environment, TRANSCRIBE_API_KEY: usual });
    expect(refused.exitCode).toBe(5);
    expect(refused.stderr).toContain("This key lacks the scope transcriptions:edit");
  });
});
