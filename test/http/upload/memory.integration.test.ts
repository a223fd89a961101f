import { expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BOUNDARY, MULTIPART } from "./support.ts";

setDefaultTimeout(60_000);

const MIB = 1 << 20;

test("256 MiB arrive whole while the server's memory grows by less than 64 MiB", async () => {
  const directory = await mkdtemp(join(tmpdir(), "transcribe-test-"));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "upload-server.ts"), directory], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, NODE_ENV: "production" },
  });
  try {
    const { value } = await child.stdout.getReader().read();
    const port = Number(new TextDecoder().decode(value));
    // The first upload loads modules that the second needs, too.
    await upload(port, 1, () => {});
    const before = residentBytes(child.pid);
    let highest = before;
    const answer = await upload(port, 256, () => {
      highest = Math.max(highest, residentBytes(child.pid));
    });
    highest = Math.max(highest, residentBytes(child.pid));
    expect(answer).toContain(`"sizeBytes":${256 * MIB},"sha256":"${answerDigest(256)}"`);
    expect(answer).toContain(`"sizeOnDisk":${256 * MIB}`);
    console.log(`resident: ${before / MIB} MiB before, ${highest / MIB} MiB at most`);
    expect(highest - before).toBeLessThan(64 * MIB);
    expect(await readdir(directory)).toEqual([]);
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    await rm(directory, { recursive: true, force: true });
  }
}, 120_000);

function piece(index: number): Buffer {
  return Buffer.alloc(MIB, index % 251);
}

function answerDigest(pieces: number): string {
  const hash = createHash("sha256");
  for (let index = 0; index < pieces; index++) hash.update(piece(index));
  return hash.digest("hex");
}

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024;
}

/** Sends a form with a file of the given MiB as fast as the server accepts it, and returns the raw answer. */
async function upload(port: number, pieces: number, onSent: () => void): Promise<string> {
  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="long.wav"\r\n\r\n`;
  const tail = `\r\n--${BOUNDARY}--\r\n`;
  const socket = connect(port, "127.0.0.1");
  const write = (bytes: string | Buffer) => new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
  const length = head.length + tail.length + pieces * MIB;
  let answer = "";
  const answered = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("end", resolve);
    socket.on("data", (bytes) => {
      answer += bytes.toString();
    });
  });
  await write(
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${length}\r\n\r\n${head}`,
  );
  for (let index = 0; index < pieces; index++) {
    await write(piece(index));
    if (index % 16 === 0) onSent();
  }
  await write(tail);
  await answered;
  return answer;
}
