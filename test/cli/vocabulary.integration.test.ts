import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { newRecording } from "../../harness/new-recording.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { ApiServer } from "../support/http.ts";
import { Commands, shapes } from "./support.ts";

setDefaultTimeout(60_000);

describe("transcribe accounts vocabulary", () => {
  const server = new ApiServer();
  const directory = temporaryDirectory();
  afterAll(() => {
    server[Symbol.dispose]();
    directory[Symbol.dispose]();
  });
  const commands = new Commands(server.dataDirectory.root);
  const client = server.client("acme");
  const vocabulary = async (...args: string[]) =>
    (await commands.json(shapes.account, "accounts", "vocabulary", "acme", ...args)).vocabulary;
  const created = () => {
    const id = Bun.randomUUIDv7();
    return server.recordings.create(newRecording(id, client.accountId)).vocabulary;
  };

  test("sets, shows and removes the vocabulary with a running server, for recordings created afterwards", async () => {
    expect([await vocabulary(), created()]).toEqual([null, null]);
    expect(await vocabulary("Leverrier, Kubernetes")).toBe("Leverrier, Kubernetes");
    expect(created()).toBe("Leverrier, Kubernetes");
    const file = join(directory.path, "names.txt");
    await Bun.write(file, "Müller-Lüdenscheidt\nŻółć\n");
    expect(await vocabulary("--file", file)).toBe("Müller-Lüdenscheidt, Żółć");
    expect((await commands.run("accounts", "vocabulary", "acme")).stdout).toBe("Müller-Lüdenscheidt, Żółć\n");
    expect([await vocabulary("--clear"), created()]).toEqual([null, null]);
    const { stdout } = await commands.run("accounts", "vocabulary", "acme");
    expect(stdout).toBe("account acme has no vocabulary\n");
  });

  test("never shows the vocabulary in responses of the API", async () => {
    await vocabulary("Zitronenfalter");
    const { id } = server.recordings.create(newRecording(Bun.randomUUIDv7(), client.accountId));
    const answer = await (await client.fetch(`/transcriptions/${id}`)).text();
    expect(answer).toContain(id);
    expect(answer).not.toMatch(/vocabulary|Zitronenfalter/);
    await vocabulary("--clear");
  });

  test("refuses a vocabulary that is too long or not text, and keeps the previous one", async () => {
    await vocabulary("Leverrier");
    const binary = join(directory.path, "binary");
    await Bun.write(binary, new Uint8Array([0xff, 0xfe, 0x00]));
    const refusals: [string[], RegExp][] = [
      [["Rhabarberbarbara ".repeat(60)], /it has \d+ tokens, and the speech model takes 223/],
      [["--file", binary], /not UTF-8 text/],
      [["--file", join(directory.path, "missing")], /can't read the vocabulary/],
      [["--file", "/dev/zero"], /can't read the vocabulary \/dev\/zero: it has more than 66 KB/],
    ];
    for (const [args, why] of refusals) {
      const refusal = await commands.refusal("accounts", "vocabulary", "acme", ...args);
      expect(refusal).toMatch(why);
      expect(refusal).not.toContain("\u001b");
    }
    const control = await commands.usageError("accounts", "vocabulary", "acme", "a\u001b[2J");
    expect(control).toContain("control characters");
    expect(control).not.toContain("\u001b");
    await commands.usageError("accounts", "vocabulary", "acme", "Leverrier", "--clear");
    expect(await commands.refusal("accounts", "vocabulary", "nobody", "Leverrier")).toContain("no account nobody");
    expect(await vocabulary()).toBe("Leverrier");
  });
});
