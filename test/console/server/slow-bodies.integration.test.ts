import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { recordingSchema } from "../../../src/console/contract/index.ts";
import { signOutEverywhere } from "../../../src/console/index.ts";
import { listKeys } from "../../../src/keys/index.ts";
import { changeUser, deleteUser, requireUser, setDisabled, type User } from "../../../src/users/index.ts";
import { type Browser, ConsoleServer } from "../../support/console.ts";
import { signedIn } from "./people.ts";

setDefaultTimeout(60_000);

const email = "anna@example.org";

/** Sends a request whose body is complete only after `meanwhile`. @returns the status */
async function sendSlowly(
  { cookie }: Browser,
  server: ConsoleServer,
  [method, path, value]: readonly [string, string, unknown],
  meanwhile: () => void,
): Promise<number> {
  const { port, hostname, host } = new URL(server.origin);
  const body = JSON.stringify(value);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const headers = {
    ...{ Host: host, Origin: server.origin, Cookie: cookie, "Sec-Fetch-Site": "same-origin" },
    ...{ "X-Transcribe-Console": "1", "Content-Length": String(body.length), Connection: "close" },
  };
  const lines = Object.entries(headers).map(([name, text]) => `${name}: ${text}\r\n`);
  socket.write(`${method} /console/data${path} HTTP/1.1\r\n${lines.join("")}\r\n${body.slice(0, 3)}`);
  // The session is found as soon as the head has arrived, which an answer to a later request proves.
  await server.stranger().data("/sign-in-methods");
  meanwhile();
  socket.write(body.slice(3));
  let answer = "";
  socket.on("data", (data) => {
    answer += data.toString();
  });
  await once(socket, "close");
  return Number(answer.split(" ")[1]);
}

describe("a request whose body arrives after the person", () => {
  type Change = (server: ConsoleServer, user: User) => unknown;
  const changes: [string, number, Change][] = [
    ["is disabled", 401, ({ api }, user) => setDisabled(api.store, user, true, api.operator())],
    ["is deleted", 401, ({ api }, user) => deleteUser(api.store, user, api.operator())],
    ["is signed out", 401, ({ api }) => signOutEverywhere(api.store, api.operator())],
    ["has become a reader", 403, ({ api }, user) => changeUser(api.store, user, { role: "reader" }, api.operator())],
  ];
  test.each(changes)("%s changes nothing", async (_what, status, change) => {
    using server = new ConsoleServer();
    const { api } = server;
    const id = await server.enterSaid("acme", ["hello there", "good bye"]);
    const account = api.account("acme");
    const requests = [
      ["PUT", `/recordings/${id}/speakers`, { names: { A: "Mallory" } }],
      ["POST", `/recordings/${id}/voices`, { speaker: "A" }],
      ["POST", `/recordings/${id}/proposals`, { speaker: "A", voice: "v", confirmed: true }],
      ["POST", `/keys`, { account: account.id, name: "key" }],
      ["PUT", "/voices/v", { name: "Mallory" }],
    ] as const;
    for (const request of requests) {
      const browser = await signedIn(server, email, "operator", "all");
      const user = requireUser(api.store, email);
      expect([request, await sendSlowly(browser, server, request, () => change(server, user))]).toEqual([
        request,
        status,
      ]);
      if (_what !== "is deleted") deleteUser(api.store, requireUser(api.store, email), api.operator());
    }
    const operator = await server.operator();
    const { speakers } = await operator.read(`/recordings/${id}`, recordingSchema);
    expect(speakers.map(({ name }) => name)).toEqual([null, null]);
    expect(listKeys(api.store, account)).toEqual([]);
  });

  test("gets other accounts changes nothing in the former ones", async () => {
    using server = new ConsoleServer();
    const { api } = server;
    const id = await server.enterSaid("acme", ["hello there"]);
    const browser = await signedIn(server, email, "member", ["acme"]);
    const user = requireUser(api.store, email);
    const change = () => changeUser(api.store, user, { accounts: [api.account("beta")] }, api.operator());
    const request = ["PUT", `/recordings/${id}/speakers`, { names: { A: "Mallory" } }] as const;
    expect(await sendSlowly(browser, server, request, change)).toBe(404);
  });
});
