import { afterAll, expect, test } from "bun:test";
import { ApiServer } from "../../support/http.ts";
import { TestSocket } from "../../support/test-socket.ts";
import { RawSocket } from "./raw-socket.ts";

const server = new ApiServer({ silentSeconds: 8 });
afterAll(() => server[Symbol.dispose]());
const headers = { Authorization: `Bearer ${server.client("first").key}` };
const path = "/api/public/v1/live";

test("a client that answers no ping loses its connection, and one that is silent but answers keeps it", async () => {
  using silent = await TestSocket.open(`ws://127.0.0.1:${server.port}${path}`, { headers });
  const kept = server.live.last;
  // It reads nothing, and its connection stays open: as after a cut cable.
  using gone = await RawSocket.open(server.port, path, headers);
  gone.pause();
  const left = server.live.last;
  await left.called("detach");
  expect(left.calls).toEqual([{ call: "detach" }]);
  kept.emit({ type: "cleared" });
  await silent.next("cleared");
  expect(kept.calls).toEqual([]);
});
