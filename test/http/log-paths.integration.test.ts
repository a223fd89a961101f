import { afterAll, expect, test } from "bun:test";
import { ConsoleServer } from "../support/console.ts";

const server = new ConsoleServer();
afterAll(() => server[Symbol.dispose]());
const { api } = server;
const client = api.client("first");
const { key } = client;
const secret = key.slice("trs_".length);
const encoded = [...key].map((character) => `%${character.charCodeAt(0).toString(16)}`).join("");

const paths = [
  `/${key}`,
  `/api/public/v1/transcriptions/${key}`,
  `/api/public/v1/${key}/transcriptions`,
  `/api/public/v1/transcriptions/${key}/segments`,
  `/api/public/v1/transcriptions?key=${key}`,
  `/api/public/v1/transcriptions/x?${key}`,
  `/api/public/v1/transcriptions/${encoded}`,
  `/api/public/v1/transcriptions/%74rs_${secret}`,
  `/api/public/v1/transcriptions/Bearer%20${key}`,
  `/api/public/v1/transcriptions/x${key}x`,
  `/api/public/v1/transcriptions/%2574rs%255f${secret}`,
  `/api/public/v1/transcriptions/${secret}`,
  `/api/public/v1/transcriptions/trs_${secret.slice(0, 20)}`,
  `/api/public/v1/../${key}`,
  `/console/${key}`,
  `/console/data/recordings/${key}`,
  `/console/data/recordings?q=${key}`,
  `/console/assets/${key}`,
  `//${key}`,
  `/api/public/v1/transcriptions#${key}`,
];
test.each(paths)("a key in a path or query is neither logged nor answered: %#", async (path) => {
  for (const method of ["GET", "POST", "DELETE"]) {
    for (const authorization of ["", `Authorization: Bearer ${key}\r\n`]) {
      api.log.length = 0;
      const answer = await api.raw(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${authorization}Content-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      const text = `${answer}\n${JSON.stringify(api.log)}`;
      expect(api.log.filter(({ event }) => event === "http.request")).toHaveLength(1);
      for (const part of [secret.slice(0, 20), secret.slice(-20), encoded.slice(12, 60)])
        expect(text).not.toContain(part);
      const page: unknown = await (await fetch(`${api.origin}/metrics`)).text();
      expect(page).not.toContain(secret.slice(0, 20));
    }
  }
});

test("a logged path still shows the requested recording and its sub-resource", async () => {
  const id = api.enterCompleted(client.accountId, 1);
  api.log.length = 0;
  await client.fetch(`/transcriptions/${id}/segments`);
  await client.fetch("/transcriptons/x%20y");
  expect(api.log.map(({ path }) => path)).toEqual([
    `/api/public/v1/transcriptions/${id}/segments`,
    "/api/public/v1/transcriptons/*",
  ]);
});
