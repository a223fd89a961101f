import { afterAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { OpenAPIV3 } from "openapi-types";
import { errorOf } from "../../harness/client.ts";
import { errorCodes } from "../../src/http/shared/errors.ts";
import { programVersion } from "../../src/program/index.ts";
import { ApiServer } from "../support/http.ts";

const server = new ApiServer({ limits: { requests_per_minute: 7_777 } });
afterAll(() => server[Symbol.dispose]());
const get = (path: string, init: RequestInit = {}) => fetch(server.origin + path, init);

const answer = await get("/openapi.json");
const text = await answer.text();
const document: OpenAPIV3.Document = JSON.parse(text);
const components = document.components ?? {};

/** Returns the object to which a reference of the document points. */
function resolve<T extends object>(value: T | OpenAPIV3.ReferenceObject | undefined): T {
  if (value === undefined) throw new Error("there is nothing to resolve");
  if (!("$ref" in value)) return value;
  let target: unknown = document;
  for (const name of value.$ref.replace("#/", "").split("/")) target = (target as Record<string, unknown>)[name];
  if (target === undefined) throw new Error(`${value.$ref} is not in the document`);
  return target as T;
}

const verbs = ["get", "post", "put", "patch", "delete"] as const;
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  verbs.flatMap((verb) => {
    const operation = item?.[verb];
    return operation === undefined ? [] : [{ name: `${verb.toUpperCase()} ${path}`, operation }];
  }),
);
const operationOf = (name: string) => {
  const found = operations.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found.operation;
};
const responseOf = (name: string, status: string) => resolve(operationOf(name).responses[status]);
const codesOf = (name: string, status: string): unknown[] => {
  const schema = resolve(responseOf(name, status).content?.["application/json"]?.schema);
  return resolve(schema.properties?.error).enum ?? [];
};

/** OpenAI's audio API, outside the contract, with a key and with errors in OpenAI's form. */
const openAi = [
  "GET /v1/models",
  "GET /v1/models/{model}",
  "POST /v1/audio/transcriptions",
  "POST /v1/audio/translations",
];

const account = ["account_restricted", "guest_account_not_supported", "subscription_required"];
const scoped = [...account, "insufficient_scope"];
const ofRecording = [...scoped, "workspace_scope_mismatch"];
const everywhere = {
  401: ["missing_api_key", "invalid_api_key"],
  405: ["method_not_allowed"],
  429: ["rate_limited"],
  500: ["internal_error"],
};
const missing = { 404: ["not_found"] };
const untranslated = { 404: ["not_found", "translation_not_found"] };
const invalid = { 422: ["validation_failed"] };
const unready = { 409: ["transcription_is_not_ready"] };

/** From the contract: the answers of each operation besides the errors that all operations have. */
const contract: Record<string, { success: string[]; errors: Record<string, string[]> }> = {
  "POST /transcriptions": {
    success: ["201"],
    errors: {
      400: ["bad_request"],
      403: scoped,
      404: ["not_found"],
      409: ["concurrency_limit", "idempotency_key_reused", "idempotency_request_in_progress"],
      413: ["file_too_large"],
      422: ["validation_failed", "uploaded_file_cannot_be_processed", "playlist_not_acceptable"],
      503: ["service_unavailable"],
    },
  },
  "GET /transcriptions": { success: ["200"], errors: { 403: scoped, ...invalid } },
  "GET /transcriptions/{id}": { success: ["200"], errors: { 403: ofRecording, ...missing } },
  "DELETE /transcriptions/{id}": {
    success: ["204"],
    errors: { 403: [...ofRecording, "forbidden"], ...missing, 409: ["transcription_still_processing"] },
  },
  "GET /transcriptions/{id}/segments": {
    success: ["200"],
    errors: { 403: ofRecording, ...missing, ...unready, ...invalid },
  },
  "GET /transcriptions/{id}/export": {
    success: ["200", "304"],
    errors: { 403: ofRecording, ...missing, ...unready, ...invalid },
  },
  "GET /languages": { success: ["200"], errors: { 403: account } },
};

const ofChange = {
  400: ["bad_request"],
  403: ofRecording,
  404: ["not_found"],
  413: ["file_too_large"],
  422: ["validation_failed"],
};
const idempotency = ["idempotency_key_reused", "idempotency_request_in_progress"];
const editConflict = { 409: ["transcription_is_not_ready", ...idempotency] };
const stale = { 412: ["precondition_failed"] };
const revisioned = { ...ofChange, ...editConflict, ...stale, 428: ["precondition_required"] };
const readable = { 403: ofRecording, ...missing };

/** What the API has beyond the contract. */
const beyond: typeof contract = {
  "POST /transcriptions/{id}/cancel": {
    success: ["200"],
    errors: { ...ofChange, 409: ["transcription_has_ended", ...idempotency] },
  },
  "GET /transcriptions/{id}/speakers": { success: ["200"], errors: { ...readable, ...unready } },
  "PATCH /transcriptions/{id}/speakers": { success: ["200"], errors: { ...ofChange, ...unready, ...stale } },
  "POST /transcriptions/{id}/speakers/merge": { success: ["200"], errors: revisioned },
  "POST /transcriptions/{id}/corrections": { success: ["200"], errors: revisioned },
  "GET /transcriptions/{id}/revisions": { success: ["200"], errors: { ...readable, ...unready, ...invalid } },
  "GET /transcriptions/{id}/revisions/{number}": { success: ["200"], errors: { ...readable, ...unready, ...invalid } },
  "GET /transcriptions/{id}/revisions/{number}/comparison": {
    success: ["200"],
    errors: { ...readable, ...unready, ...invalid },
  },
  "POST /transcriptions/{id}/revisions/{number}/restore": { success: ["200"], errors: revisioned },
  "GET /transcriptions/{id}/process": { success: ["200"], errors: readable },
  "POST /transcriptions/{id}/process": {
    success: ["202"],
    errors: {
      ...ofChange,
      409: [
        ...["transcription_is_not_ready", "transcription_still_processing", "audio_not_stored", "concurrency_limit"],
        ...idempotency,
      ],
    },
  },
  "GET /transcriptions/{id}/tags": { success: ["200"], errors: readable },
  "PUT /transcriptions/{id}/tags": { success: ["200"], errors: ofChange },
  "GET /search": { success: ["200"], errors: { 403: scoped, ...invalid } },
  "GET /voices": { success: ["200"], errors: { 403: ofRecording } },
  "PUT /voices/{voice}": { success: ["200"], errors: ofChange },
  "DELETE /voices/{voice}": { success: ["204"], errors: readable },
  "GET /transcriptions/{id}/exports/{format}": {
    success: ["200", "304"],
    errors: { 403: ofRecording, ...untranslated, ...unready, ...invalid },
  },
  "GET /transcriptions/{id}/translation": {
    success: ["200"],
    errors: { 403: ofRecording, ...untranslated, ...unready, ...invalid },
  },
};

describe("the document", () => {
  test("is OpenAPI 3 with this program's version and relative URLs", () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
    expect(document.openapi).toMatch(/^3\./);
    expect(document.info.version).toBe(programVersion);
    expect(document.servers).toEqual([{ url: "/api/public/v1" }]);
  });

  test("shows the limits of this server", () => {
    expect(document.info.description).toContain("7,777 a minute");
  });

  test("names the authors of speech models while models that require it are installed", async () => {
    const descriptionNow = async () =>
      ((await (await get("/openapi.json")).json()) as typeof document).info.description;
    expect(await descriptionNow()).not.toContain("## Speech models");
    server.attributions = ["Model by Author, under CC-BY-4.0"];
    expect(await descriptionNow()).toContain("## Speech models\n- Model by Author, under CC-BY-4.0");
    server.attributions = [];
    expect(await descriptionNow()).toBe(document.info.description);
  });

  test("has no dangling reference and no repeated operationId", () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(references.length).toBeGreaterThan(50);
    for (const $ref of references) expect(resolve<object>({ $ref })).toBeObject();
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain(undefined);
  });

  test("has no enum with a value of another type than its schema", () => {
    const wrong: unknown[] = [];
    JSON.parse(text, (_, value) => {
      if (!Array.isArray(value?.enum)) return value;
      const fits = (each: unknown) => (each === null ? value.nullable === true : typeof each === value.type);
      if (!value.enum.every(fits)) wrong.push(value);
      return value;
    });
    expect(wrong).toEqual([]);
  });

  test("describes exactly the routes of the server", () => {
    const inDocument = operations.map(({ name }) => name).filter((name) => name in contract);
    expect(inDocument.sort()).toEqual(Object.keys(contract).sort());
    const outside = operations.map(({ name }) => name).filter((name) => !(name in contract || name in beyond));
    const added = operations.filter(({ name }) => name in beyond);
    expect(added.map(({ name }) => name).sort()).toEqual(Object.keys(beyond).sort());
    for (const { operation } of added) expect(operation.tags).not.toContain("API");
    const service = [
      "GET /docs",
      "GET /fleet/workers",
      "GET /healthz",
      "GET /metrics",
      "GET /openapi.json",
      "GET /readyz",
    ];
    expect(outside.sort()).toEqual([...service, ...openAi]);
  });

  test("describes the 400 for a path with backslashes, which no name of a model has", async () => {
    const { parameters = [], responses } = operationOf("GET /v1/models/{model}");
    const { schema } = resolve(parameters[0]);
    const { pattern = "" } = resolve(schema);
    expect(Object.keys(responses)).toContain("400");
    for (const name of ["\\A", "a\\..\\b"]) {
      expect((await get(`/v1/models/${encodeURIComponent(name)}`)).status).toBe(400);
      expect(name).not.toMatch(new RegExp(pattern));
    }
    for (const name of ["..", "."]) expect(name).not.toMatch(new RegExp(pattern));
    for (const name of ["whisper-1", "gpt-4o-transcribe", "parakeet.v3"]) expect(name).toMatch(new RegExp(pattern));
  });

  test("describes every error code with its own example", () => {
    const examples = Object.values(components.responses ?? {}).flatMap((response) =>
      Object.keys(resolve(response).content?.["application/json"]?.examples ?? {}),
    );
    expect(new Set(examples)).toEqual(new Set(errorCodes));
  });

  for (const [name, { success, errors }] of Object.entries({ ...contract, ...beyond })) {
    test(`${name} gives ${[...success, ...Object.keys(errors)].join(", ")} and what all give, with their codes`, () => {
      const expected: Record<string, string[]> = { ...everywhere, ...errors };
      const statuses = [...success, ...Object.keys(expected)].sort();
      expect(Object.keys(operationOf(name).responses).sort()).toEqual(statuses);
      for (const [status, codes] of Object.entries(expected)) {
        expect([status, [...codesOf(name, status)].sort()]).toEqual([status, [...codes].sort()]);
      }
    });
  }

  const withHeaders: [string, string, string[]][] = [
    ["POST /transcriptions", "201", ["Location", "Idempotency-Replayed", "RateLimit", "RateLimit-Policy"]],
    ["POST /transcriptions", "422", ["Idempotency-Replayed"]],
    ["POST /transcriptions", "429", ["Retry-After"]],
    ["POST /transcriptions", "503", ["Retry-After"]],
    ["GET /transcriptions", "200", ["RateLimit", "RateLimit-Policy"]],
    ["GET /transcriptions", "401", ["WWW-Authenticate"]],
    ["GET /transcriptions", "405", ["Allow"]],
    ["GET /transcriptions/{id}/export", "200", ["ETag", "Content-Disposition"]],
    ["GET /transcriptions/{id}/export", "304", ["ETag"]],
    ["GET /readyz", "503", ["Retry-After"]],
  ];
  for (const [name, status, headers] of withHeaders) {
    test(`${name} ${status} names ${headers.join(", ")}`, () => {
      const named = Object.keys(responseOf(name, status).headers ?? {});
      expect(named).toEqual(expect.arrayContaining([...headers, "X-Request-Id", "Cache-Control"]));
    });
  }

  test("has the media type of every export format", () => {
    expect(Object.keys(responseOf("GET /transcriptions/{id}/export", "200").content ?? {}).sort()).toEqual([
      "application/json",
      "application/pdf",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "application/x-subrip",
      "application/xml",
      "text/csv",
      "text/plain",
      "text/tab-separated-values",
      "text/vtt",
    ]);
  });

  test("requires a bearer key for the API and OpenAI's, and none elsewhere", () => {
    expect(components.securitySchemes?.key).toMatchObject({ type: "http", scheme: "bearer" });
    expect(document.security).toEqual([{ key: [] }]);
    for (const { name, operation } of operations) {
      const needsKey = name in contract || name in beyond || openAi.includes(name);
      expect([name, operation.security, operation.tags?.[0] === "OpenAI"]).toEqual([
        name,
        needsKey ? undefined : [],
        openAi.includes(name),
      ]);
    }
  });

  test("contains no path of this machine and no key", () => {
    expect(text).not.toContain(process.cwd());
    expect(text).not.toMatch(/trs_[0-9A-Za-z]{10}/);
  });
});

describe("a method that a path does not take", () => {
  const client = server.client("methods");
  const id = server.enterCompleted(client.accountId, 1);
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND", "LOCK"];
  for (const path of Object.keys(document.paths)) {
    test(`${path}: 405, and Allow names those of the document`, async () => {
      const taken = verbs
        .filter((verb) => document.paths[path]?.[verb] !== undefined)
        .map((verb) => verb.toUpperCase());
      const allowed = [...taken, ...(taken.includes("GET") ? ["HEAD"] : [])].sort();
      const isOutside = document.paths[path]?.servers !== undefined;
      for (const method of methods.filter((each) => !allowed.includes(each))) {
        const address =
          (isOutside ? server.origin : server.baseUrl) +
          path.replace("{id}", id).replace("{format}", "md").replace("{number}", "0");
        const response = await fetch(address, { method, headers: { authorization: `Bearer ${client.key}` } });
        expect([method, response.status]).toEqual([method, 405]);
        expect(response.headers.get("allow")?.split(", ").sort()).toEqual(allowed);
        const isOpenAi = openAi.some((name) => name.endsWith(` ${path}`));
        if (isOpenAi) expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } });
        else expect((await errorOf(response, 405)).error).toBe("method_not_allowed");
      }
    });
  }
});

describe("the page", () => {
  const linkSchema = Type.Array(Type.String({ pattern: "^(docs/|openapi\\.json)" }), { minItems: 4 });

  test("loads only files of this server, and has no inline script", async () => {
    const response = await get("/docs");
    const html = await response.text();
    const links = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
    expect(Value.Check(linkSchema, links)).toBeTrue();
    expect(html).not.toMatch(/https?:/);
    expect(html).not.toMatch(/<script>|<style|style=|onload=/);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(policy).not.toContain("http");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    for (const link of links) {
      const file = await get(`/${link}`);
      expect([link, file.status]).toEqual([link, 200]);
      expect((await file.bytes()).length).toBeGreaterThan(100);
    }
  });

  const files: [string, string][] = [
    ["/docs", "text/html; charset=utf-8"],
    ["/docs/page.js", "text/javascript; charset=utf-8"],
    ["/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
    ["/docs/swagger-ui.css", "text/css; charset=utf-8"],
    ["/docs/icon.png", "image/png"],
    ["/openapi.json", "application/json;charset=utf-8"],
  ];
  for (const [path, type] of files) {
    test(`${path} is ${type}, HEAD tells its length, and no other origin is let in`, async () => {
      const response = await get(path, { headers: { origin: "https://elsewhere.example" } });
      const length = (await response.bytes()).length;
      const head = await get(path, { method: "HEAD" });
      expect(head.status).toBe(200);
      expect(Number(head.headers.get("content-length"))).toBe(length);
      for (const { headers } of [response, head]) {
        expect(headers.get("content-type")).toBe(type);
        expect(headers.get("x-content-type-options")).toBe("nosniff");
        expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
      }
    });
  }

  test("has no other files below it", async () => {
    for (const path of [
      "/docs/",
      "/docs/index.html",
      "/docs/swagger-ui.js",
      "/docs/%2e%2e/package.json",
      "/docs/x%2fapp.ts",
    ]) {
      expect((await errorOf(await get(path), 404)).error).toBe("not_found");
    }
  });
});
