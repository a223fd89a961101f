import { afterAll, describe, expect, test } from "bun:test";
import { createSurfaces } from "../../src/http/app.ts";
import { contextOf } from "../../src/http/shared/request-context.ts";
import { ApiServer, clientAt } from "../support/http.ts";

const found = { wanted: 3, present: 1, waitingAudioSeconds: 5000.4, laneSpeed: 6.5, lanesOfWorker: 2 };
const answer = { wanted: 3, present: 1, waiting_audio_seconds: 5000, lane_speed: 6.5, lanes_of_worker: 2 };

describe("GET /fleet/workers", () => {
  const server = new ApiServer();
  afterAll(() => server[Symbol.dispose]());

  test.each([
    ["127.0.0.1", "", 200],
    ["192.168.1.7", "", 403],
    ["192.168.1.7", "Bearer the-token-of-metrics", 200],
    ["192.168.1.7", "Bearer another-token-of-metrics", 403],
  ])("answers %s with the authorization %p: %d", async (address, authorization, status) => {
    const metricsToken = () => "the-token-of-metrics";
    const surfaces = createSurfaces({ ...server.appOptions, metricsToken, wantedWorkers: () => found });
    const request = new Request("http://localhost/fleet/workers", { headers: { authorization } });
    contextOf(request).client = clientAt(address);
    const response = await surfaces.answer(request, "/fleet/workers");
    expect(response.status).toBe(status);
    const body: unknown = await response.json();
    if (status === 200) expect(body).toEqual(answer);
    else expect(JSON.stringify(body)).not.toContain("wanted");
  });

  test("is not found on a server that works alone", async () => {
    const response = await fetch(`${server.origin}/fleet/workers`);
    expect([response.status, JSON.stringify(await response.json())]).toEqual([
      404,
      expect.stringContaining("works alone"),
    ]);
  });
});
