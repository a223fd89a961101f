import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { becomesTrue } from "../../harness/load-clients.ts";
import { MediaError, probeRecording } from "../../src/media/index.ts";
import { ApiServer } from "./support.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of looks at uploads", ffmpegPath, jfk);

describe.if(ready)("probes of uploads", () => {
  test("of an account with slow files do not delay another account", async () => {
    const held = Promise.withResolvers<void>();
    let looks = 0;
    using server = new ApiServer({
      probe: async (path) => {
        const number = ++looks;
        if (number <= 2) await held.promise;
        return await probeRecording(ffmpegPath, path);
      },
    });
    const hostile = server.client("hostile");
    const slow = Array.from({ length: 5 }, () => hostile.send(jfk));
    expect(await becomesTrue(() => server.filesIn("incoming").length === 5 && looks === 2)).toBe(true);
    // One after the other, and some at a time, as another account would send them.
    const honest = server.client("honest");
    expect((await honest.send(jfk)).status).toBe(201);
    const others = [1, 2, 3].map((index) => server.client(`account-${index}`).send(jfk));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([201, 201, 201]);
    // No third file of the slow account was probed at the same time.
    expect(looks).toBe(2 + 4);
    held.resolve();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  });

  test("that time out are answered 503 with Retry-After; nothing is stored, and the upload can be repeated", async () => {
    let isBusy = true;
    using server = new ApiServer({
      probe: (path) => {
        if (isBusy) throw new MediaError("ffmpeg_timed_out", "ffmpeg took longer than 60 s");
        return probeRecording(ffmpegPath, path);
      },
    });
    const client = server.client("first");
    const send = () => {
      const body = new FormData();
      body.set("file", Bun.file(jfk));
      return client.fetch("/transcriptions", { method: "POST", body, headers: { "Idempotency-Key": "again" } });
    };
    const response = await send();
    expect(response.headers.get("retry-after")).toBe("60");
    expect((await errorOf(response, 503)).error).toBe("service_unavailable");
    expect(server.filesIn("incoming")).toEqual([]);
    isBusy = false;
    const again = await send();
    expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, null]);
  });
});
