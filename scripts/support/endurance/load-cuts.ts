import { connect } from "node:net";
import type { TestClient } from "../../../test/support/client.ts";

export interface Cut {
  /** Of the request's bytes, how many are sent. */
  readonly share: number;
  readonly ending: "end" | "reset";
  readonly idempotencyKey?: string;
}

/** Sends a part of a create and breaks off; done when the connection is closed. */
export async function cutUpload({ baseUrl, key }: TestClient, file: Uint8Array, cut: Cut): Promise<void> {
  const { hostname, port, pathname } = new URL(baseUrl);
  const part = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
  const body = Buffer.concat([Buffer.from(part), file, Buffer.from("\r\n--x--\r\n")]);
  const lines = [
    `POST ${pathname}/transcriptions HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${key}`,
    "Content-Type: multipart/form-data; boundary=x",
    `Content-Length: ${body.length}`,
    ...(cut.idempotencyKey === undefined ? [] : [`Idempotency-Key: ${cut.idempotencyKey}`]),
  ];
  const request = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), body]);
  const closed = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve());
  socket.resume();
  // All but the last byte at most: a whole request may be answered 201, as it should.
  const sent = request.subarray(0, Math.floor(cut.share * (request.length - 1)));
  socket.write(sent, () => {
    if (cut.ending === "end") socket.end();
    else socket.resetAndDestroy();
  });
  await closed.promise;
}
