import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { ConsoleServer } from "../../support/console.ts";
import { ApiServer } from "../../support/http.ts";

setDefaultTimeout(60_000);

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src 'self'; img-src 'self' data:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

describe("every answer of the console", () => {
  const paths = ["", "/", "/assets/none.js", "/nothing", "/data/sign-in-methods", "/data/overview", "/data/nothing"];
  test.each(paths)(
    "at %p keeps to itself: no script or style within a page, nothing from elsewhere, no frame",
    async (path) => {
      using server = new ConsoleServer();
      for (const browser of [await server.operator(), server.stranger()]) {
        const { headers } = await browser.fetch(path);
        expect(headers.get("content-security-policy")).toBe(policy);
        expect(headers.get("referrer-policy")).toBe("no-referrer");
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
        expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
        expect(headers.get("cache-control")).toBe("no-store");
      }
    },
  );
});

describe("the page", () => {
  test("is at /console/ behind any proxy prefix, and contains nothing that its policy forbids", async () => {
    using server = new ConsoleServer();
    const browser = server.stranger();
    const moved = await browser.fetch("");
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "console/"]);
    const answer = await browser.fetch("/");
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|\sstyle=|<style|\son\w+=|https?:\/\/(?!www\.w3\.org)/i);
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);
    const files = addresses.filter((address) => !address.startsWith("data:"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) {
      expect(file).toMatch(/^assets\/[\w.-]+\.[0-9a-f]{8,}\.(js|css)$/);
      const loaded = await browser.fetch(`/${file}`);
      expect(loaded.status).toBe(200);
      expect(loaded.headers.get("content-type")).toMatch(file.endsWith(".js") ? /^text\/javascript/ : /^text\/css/);
      expect(loaded.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      const plain = await browser.fetch(`/${file}`, { headers: { "Accept-Encoding": "identity" } });
      expect(loaded.headers.get("vary")).toBe("Accept-Encoding");
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(await loaded.text()).toBe(await plain.text());
    }
  });

  test("answers HEAD, and refuses every other method", async () => {
    using server = new ConsoleServer();
    const browser = server.stranger();
    expect((await browser.fetch("/", { method: "HEAD" })).status).toBe(200);
    for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const answer = await browser.fetch("/", { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });
});

test("a client that is not signed in gets the same refusal for every data path", async () => {
  using server = new ConsoleServer();
  const id = await server.enterSaid("first", ["hello"]);
  const browser = server.stranger();
  const paths = [
    "overview",
    "events",
    "recordings",
    `recordings/${id}`,
    `recordings/${id}/audio`,
    "accounts",
    "keys/x",
  ];
  for (const path of [...paths, "nothing", "session", "sign-in-methods/", "sign-in-methods/x", "", "upload-options"]) {
    expect(await browser.refusal(browser.data(`/${path}`), 401)).toBe("not_signed_in");
  }
});

test("without a console its paths are answered like any unknown path", async () => {
  using server = new ApiServer();
  const nothing = await (await fetch(`${server.origin}/nothing`)).text();
  for (const path of [
    "/console",
    "/console/",
    "/console/data/overview",
    "/console/data/session",
    "/console/assets/x.js",
  ])
    for (const method of ["GET", "POST", "OPTIONS"]) {
      const answer = await fetch(server.origin + path, { method, redirect: "manual" });
      expect([answer.status, await answer.text()]).toEqual([404, nothing]);
    }
});

test("the API's paths are unchanged if there is a console", async () => {
  using server = new ConsoleServer();
  const answer = await fetch(`${server.api.baseUrl}/console`);
  expect(answer.status).toBe(401);
  expect(answer.headers.get("content-security-policy")).toBeNull();
  const { key } = server.api.client("first");
  const headers = { Authorization: `Bearer ${key}` };
  expect((await fetch(`${server.api.baseUrl}/console`, { headers })).status).toBe(404);
});
