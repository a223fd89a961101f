import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { available, samplePath } from "../../harness/checkout.ts";
import { TestClient } from "../../harness/client.ts";
import { sampleRecordingNeeds } from "../../harness/sample-recordings.ts";
import { startTimeout, TestServer } from "../../harness/server.ts";

const jfk = samplePath("jfk.mp3");
const ready = available("e2e tests of replacements", ...sampleRecordingNeeds);

describe.if(ready)("a recording of an account with replacements", () => {
  const server = new TestServer();
  let client: TestClient;

  beforeAll(async () => {
    await server.start();
    client = new TestClient(server.baseUrl, server.client("acme").key);
  }, startTimeout);
  afterAll(() => server[Symbol.asyncDispose]());

  test(
    "has the words as the list says in segments and exports, and the recognized ones in the revision before",
    server.showingLog(async () => {
      const cli = async (...args: readonly string[]) => {
        const { exitCode, stdout, stderr } = await server.cli(...args);
        if (exitCode !== 0) throw new Error(stderr);
        return stdout;
      };
      await cli("replacements", "add", "your country", "Your Nation", "--account", "acme");
      const { id } = await client.create(jfk);
      await client.waitUntilEnded(id, 60);
      const segments = await client.segments(id);
      const text = segments.map((segment) => segment.text).join(" ");
      expect(text).toContain("what Your Nation can do for you");
      expect(text).not.toMatch(/your country/i);
      expect(await (await client.fetch(`/transcriptions/${id}/export?format=txt`)).text()).toContain("Your Nation");
      expect(await cli("recordings", "show", id, "--revisions")).toMatch(/^1 .*the account's replacements +respell /m);
    }),
    180_000,
  );
});
