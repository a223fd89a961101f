import { afterAll, describe, expect, test } from "bun:test";
import { bodyOf } from "../../../harness/client.ts";
import { transcriptionContract } from "../../../harness/contract.ts";
import { readAudit } from "../../../src/accounts/index.ts";
import { Editor } from "../../support/editor.ts";
import { ApiServer } from "../../support/http.ts";
import { refusalOf } from "../../support/secrets.ts";

const server = new ApiServer();
afterAll(() => server[Symbol.dispose]());
const editor = new Editor(server);
const { client } = editor;

const cancel = (id: string, by = editor) => by.send("POST", `/transcriptions/${id}/cancel`);

describe("POST /transcriptions/{id}/cancel", () => {
  for (const state of ["queued", "processing"] as const) {
    test(`ends a ${state} recording, which is then failed with internal, and tells the queue at once`, async () => {
      const id = state === "queued" ? server.enterQueued(client.accountId) : server.enterProcessing(client.accountId);
      let followed = 0;
      server.onFollow = () => {
        followed += server.recordings.get(id)?.status === "failed" ? 1 : 0;
      };
      const answer = await bodyOf(await cancel(id), 200, transcriptionContract);
      expect(answer).toMatchObject({ id, status: "failed", failure_reason: "internal" });
      expect(server.recordings.get(id)?.failureCause).toBe("cancelled");
      expect(followed).toBe(1);
      expect(await client.get(id)).toEqual(answer);
    });
  }

  test("of a cancelled recording gives the same answer again, and changes nothing", async () => {
    const id = server.enterProcessing(client.accountId);
    const first = await (await cancel(id)).text();
    expect(await (await cancel(id)).text()).toBe(first);
    const entries = readAudit(server.store, 100).filter(({ subject }) => subject === id);
    expect(entries).toMatchObject([{ action: "recordings.cancel", actor: `key:${client.keyId}` }]);
  });

  test("frees the place of the account, and refunds its audio", async () => {
    using other = new ApiServer({ recordingsPerAccount: 1 });
    const own = new Editor(other);
    const id = other.enterProcessing(own.client.accountId);
    expect(other.recordings.open.countOf(own.client.accountId)).toBe(1);
    await cancel(id, own);
    expect(other.recordings.open.countOf(own.client.accountId)).toBe(0);
  });

  test("of a completed or failed recording is 409, and DELETE of a running one stays 409", async () => {
    for (const id of [server.enterCompleted(client.accountId, 1), server.enterFailed(client.accountId)]) {
      expect(await refusalOf(await cancel(id))).toBe("409 transcription_has_ended");
    }
    const running = server.enterProcessing(client.accountId);
    const removed = await editor.send("DELETE", `/transcriptions/${running}`);
    expect(await refusalOf(removed)).toBe("409 transcription_still_processing");
    await cancel(running);
    expect((await editor.send("DELETE", `/transcriptions/${running}`)).status).toBe(204);
    expect(await refusalOf(await cancel(running))).toBe("404 not_found");
  });

  test("announces the failure to webhooks once", async () => {
    const id = server.enterQueued(client.accountId);
    const ends: unknown[] = [];
    const end = server.events.onEnded("test", (event) => void (event.id === id && ends.push(event.outcome)));
    await cancel(id);
    await cancel(id);
    server.events.deliver();
    end();
    expect(ends).toEqual(["cancelled"]);
  });
});
