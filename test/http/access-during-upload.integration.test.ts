import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { type AccountChanges, changeAccount } from "../../src/accounts/index.ts";
import { revokeKey, rotateKey } from "../../src/keys/index.ts";
import { probeRecording } from "../../src/media/index.ts";
import { post, SlowUpload } from "../support/forms.ts";
import { ApiServer, type KeyClient } from "../support/http.ts";
import { refusalOf } from "../support/secrets.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of access that ends during an upload", ffmpegPath, jfk);
const hour = 3_600_000;

type Change = (server: ApiServer, client: KeyClient) => unknown;

const changed =
  (values: AccountChanges): Change =>
  (server) =>
    changeAccount(server.store, server.account("first"), server.operator(), values);

/** Events during an upload, and the answer to a request that begins afterwards. */
const changes: [string, Change, string][] = [
  [
    "its key is revoked",
    (server, { keyId }) => revokeKey(server.store, keyId, server.operator()),
    "401 invalid_api_key",
  ],
  [
    "its key is rotated",
    (server, { keyId }) => rotateKey(server.store, keyId, 0, server.operator()),
    "401 invalid_api_key",
  ],
  ["its key expires", (server) => server.advance(hour), "401 invalid_api_key"],
  ["its account is deleted", (server) => server.removeAccount(server.account("first")), "401 invalid_api_key"],
  ["its account becomes a guest's", changed({ standing: "guest" }), "403 guest_account_not_supported"],
  ["its account is restricted", changed({ standing: "restricted" }), "403 account_restricted"],
  ["its subscription ends", changed({ subscribedUntil: 0 }), "403 subscription_required"],
];

describe.if(ready).each(changes)("a create whose access ends during the upload because %s", (_, change, refusal) => {
  const start = () => {
    const server = new ApiServer();
    const client = server.client("first", { expiresAt: Date.now() + hour });
    return { server, client };
  };
  const keepsNothing = (server: ApiServer) => {
    expect([server.filesIn("incoming"), server.filesIn("uploads"), server.queued]).toEqual([[], [], []]);
  };

  test("is refused like a new request, and nothing of it is stored", async () => {
    const { server, client } = start();
    using _ = server;
    const upload = await SlowUpload.begin(server, client, await Bun.file(jfk).bytes(), "the-key");
    await change(server, client);
    expect(await refusalOf(await upload.finish(), client.key)).toBe(refusal);
    keepsNothing(server);
  });

  test("gets the same refusal if its body is not valid", async () => {
    const { server, client } = start();
    using _ = server;
    const upload = await SlowUpload.begin(server, client, new Uint8Array(50_000), "the-key");
    await change(server, client);
    expect(await refusalOf(await upload.finish(), client.key)).toBe(refusal);
    const stored = server.store.$client.query("SELECT count(*) AS count FROM kept_answers").get();
    expect(stored).toEqual({ count: 0 });
  });

  test("gets the same refusal if it is a replay", async () => {
    const { server, client } = start();
    using _ = server;
    const noRecording = new Uint8Array(50_000);
    expect((await post(client, { file: new Blob([noRecording]) }, "the-key")).status).toBe(422);
    const upload = await SlowUpload.begin(server, client, noRecording, "the-key");
    await change(server, client);
    expect(await refusalOf(await upload.finish(), client.key)).toBe(refusal);
  });
});

test.if(ready)("a key that is revoked while its uploaded file is examined enters no recording", async () => {
  let revoke = () => {};
  using server = new ApiServer({
    probe: (path) => {
      revoke();
      return probeRecording(ffmpegPath, path);
    },
  });
  const client = server.client("first");
  revoke = () => void revokeKey(server.store, client.keyId, server.operator());
  expect(await refusalOf(await client.send(jfk), client.key)).toBe("401 invalid_api_key");
  expect([server.filesIn("incoming"), server.filesIn("uploads"), server.queued]).toEqual([[], [], []]);
});
