import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { available, ffmpegPath, samplePath } from "../../harness/checkout.ts";
import { errorOf } from "../../harness/client.ts";
import { MediaError, probeRecording } from "../../src/media/index.ts";
import { ApiServer } from "../support/http.ts";

setDefaultTimeout(60_000);

const jfk = samplePath("jfk.mp3");
const ready = available("tests of looks at uploads", ffmpegPath, jfk);

describe.if(ready)("probes of uploads", () => {
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
