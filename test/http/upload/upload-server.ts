/**
 * A server that only receives uploads, on a free loopback port that it prints. argv[2] is the folder for files.
 * POST / answers with the result of receiveUpload. A received file is checked and removed.
 */
import { receiveUpload, UPLOAD_PACE } from "../../../src/http/shared/upload/index.ts";

const [directory = ""] = process.argv.slice(2);
const MIB = 1 << 20;

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  reusePort: false,
  development: false,
  maxRequestBodySize: 2048 * MIB,
  async fetch(request) {
    const limits = { maxFileBytes: 512 * MIB, maxBodyBytes: 576 * MIB, pace: UPLOAD_PACE, parts: { once: [] } };
    const upload = await receiveUpload(request, { directory, ...limits });
    if (!upload.ok) return Response.json(upload, { status: 422 });
    await using received = upload;
    return Response.json({ ...received.file, sizeOnDisk: Bun.file(received.file?.path ?? "").size });
  },
});
console.log(server.port);
