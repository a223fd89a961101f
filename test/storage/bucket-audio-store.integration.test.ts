import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { machineTrouble } from "../../src/disk/index.ts";
import { Bucket, type BucketOptions } from "../../src/storage/bucket.ts";
import { DataDirectory } from "../../src/storage/index.ts";
import { motoPackages, ObjectStore } from "../support/object-store.ts";
import { describeAudioStore } from "./audio-store.ts";

setDefaultTimeout(60_000);

let store: ObjectStore;
let buckets = 0;
beforeAll(async () => {
  if (motoPackages !== null) store = await ObjectStore.start();
}, 360_000);
afterAll(async () => await store?.[Symbol.asyncDispose]());

const signal = new AbortController().signal;
const id = Bun.randomUUIDv7();

/** Opens a data directory with a part of the bucket that nothing else uses. */
function openIn(parent: string, prefix = `test-${buckets++}/`) {
  const directory = new DataDirectory(join(parent, "data"), store.options({ prefix }));
  const { audio, bucketAudio, localAudio, incoming } = directory;
  if (bucketAudio === null) throw new Error("the directory has no bucket");
  return {
    ...{ directory, audio, prefix, bucket: new Bucket(store.options({ prefix })), state: () => bucketAudio.state },
    /** Stores audio. */
    async put(text: string, of = id) {
      const path = join(incoming, "sent");
      writeFileSync(path, text);
      await audio.put(of, path);
    },
    /** Moves what there is to move. */
    move: (isProcessed = false) => bucketAudio.move(() => isProcessed, 1000, signal),
    isHere: (of = id) => existsSync(localAudio.pathOf(of)),
    async read(of = id) {
      await using opened = await audio.open(of);
      return opened === null ? null : readFileSync(opened.path, "utf8");
    },
    incoming: () => readdirSync(incoming),
  };
}

describe.if(motoPackages !== null)("audio in a bucket", () => {
  describeAudioStore("audio that is not moved yet", (directory) => openIn(directory).audio);
  describeAudioStore("audio that is moved at once", (directory) => {
    const { audio, move } = openIn(directory);
    return {
      prepare: (path: string) => audio.prepare(path),
      async put(id: string, path: string) {
        await audio.put(id, path);
        await move();
      },
      async remove(id: string) {
        await audio.remove(id);
        await move();
      },
      open: (id: string) => audio.open(id),
      has: (id: string) => audio.has(id),
      list: () => audio.list(),
      sync: () => audio.sync(),
    };
  });

  test("stays here while the recording is processed, and is read from the bucket afterwards", async () => {
    using parent = temporaryDirectory();
    const at = openIn(parent.path);
    await at.put("speech");
    await at.move(true);
    expect([at.isHere(), await at.bucket.has(id), await at.read()]).toEqual([true, true, "speech"]);
    await at.move();
    expect([at.isHere(), await at.read(), await at.audio.has(id), await at.audio.list()]).toEqual([
      ...[false, "speech", true],
      [id],
    ]);
    expect([at.incoming(), at.state()]).toEqual([[], { waiting: 0, failingSince: null }]);
  });

  test("is sent once, also after a restart, and again when it was replaced", async () => {
    using parent = temporaryDirectory();
    const at = openIn(parent.path);
    const puts = () => store.requests.filter((each) => each === `PUT /audio/${at.prefix}${id}`).length;
    await at.put("a part");
    await at.move(true);
    const again = openIn(parent.path, at.prefix);
    await again.move(true);
    expect(puts()).toBe(1);
    await again.put("the whole");
    await again.move();
    expect([puts(), await again.read()]).toEqual([2, "the whole"]);
  });

  test("stays here while it is in use", async () => {
    using parent = temporaryDirectory();
    const at = openIn(parent.path);
    await at.put("speech");
    {
      await using opened = await at.audio.open(id);
      await at.move();
      expect(readFileSync(opened?.path ?? "", "utf8")).toBe("speech");
    }
    await at.move();
    expect(at.isHere()).toBe(false);
  });

  test("waits here during an outage, and is sent afterwards", async () => {
    using parent = temporaryDirectory();
    const at = openIn(parent.path);
    await at.move();
    store.isDown = true;
    await at.put("speech");
    const fault = await at.move().catch((error: unknown) => error);
    expect(machineTrouble(fault)).toMatchObject({ kind: "audio_store", isConfirmed: true });
    expect([await at.read(), await at.audio.has(id), at.state()]).toEqual([
      ...["speech", true],
      { waiting: 1, failingSince: 1000 },
    ]);
    for (const ask of [() => at.audio.list(), () => at.audio.open(Bun.randomUUIDv7())]) {
      expect(machineTrouble(await ask().catch((error: unknown) => error))?.kind).toBe("audio_store");
    }
    store.isDown = false;
    await at.move();
    expect([at.isHere(), await at.bucket.list(), at.incoming()]).toEqual([false, [id, "owner"], []]);
    expect(at.state()).toEqual({ waiting: 0, failingSince: null });
  });

  test("that was removed during an outage is gone at once, and does not return", async () => {
    using parent = temporaryDirectory();
    const at = openIn(parent.path);
    await at.put("speech");
    await at.move();
    store.isDown = true;
    await at.audio.remove(id);
    await at.audio.sync();
    expect([await at.read(), await at.audio.has(id)]).toEqual([null, false]);
    store.isDown = false;
    const later = openIn(parent.path, at.prefix);
    expect([await later.audio.list(), await later.read()]).toEqual([[], null]);
    await later.move();
    expect([await at.bucket.list(), await later.audio.list()]).toEqual([["owner"], []]);
  });

  test("that is removed while it is sent is removed from the bucket, too", async () => {
    using parent = temporaryDirectory();
    const at = openIn(parent.path);
    await at.put("speech");
    const removed = Promise.withResolvers<void>();
    store.onRequest = (request) => {
      if (request === `PUT /audio/${at.prefix}${id}`) at.audio.remove(id).then(removed.resolve, removed.reject);
    };
    await at.move();
    await removed.promise;
    store.onRequest = () => {};
    await at.move();
    expect([await at.bucket.list(), await at.audio.list(), at.isHere()]).toEqual([["owner"], [], false]);
  });

  test("of another data directory is neither listed nor touched", async () => {
    using parent = temporaryDirectory();
    using other = temporaryDirectory();
    const at = openIn(parent.path);
    await at.put("speech");
    await at.move();
    const stranger = openIn(other.path, at.prefix);
    await stranger.audio.remove(id);
    for (const ask of [() => stranger.audio.list(), () => stranger.move()]) {
      await expect(ask()).rejects.toThrow("belongs to another data directory");
    }
    expect(await at.read()).toBe("speech");
  });
});

describe.if(motoPackages !== null)("a bucket", () => {
  test("takes large files in parts, with the headers of the encryption, and removes parts that a kill left", async () => {
    using parent = temporaryDirectory();
    const headers = { "x-amz-server-side-encryption": "AES256" };
    const bucket = new Bucket(store.options({ prefix: "parts/", headers, partBytes: 5 * 1024 ** 2 }));
    const [path, copy] = [join(parent.path, "large"), join(parent.path, "copy")];
    writeFileSync(path, Buffer.alloc(12 * 1024 ** 2, "speech"));
    const stopping = new AbortController();
    store.onRequest = (request) => {
      if (store.requests.filter((each) => each === request).length === 2) stopping.abort(new Error("killed"));
    };
    await expect(bucket.put("large", path, stopping.signal)).rejects.toThrow("killed");
    store.onRequest = () => {};
    expect(await bucket.list()).toEqual([]);
    await bucket.removeParts();
    await bucket.put("large", path);
    expect([await bucket.get("large", copy), Bun.hash(readFileSync(copy))]).toEqual([
      true,
      Bun.hash(readFileSync(path)),
    ]);
  });

  test("reports a damaged object, a wrong key, a missing bucket, and a certificate that nobody trusts", async () => {
    using parent = temporaryDirectory();
    const path = join(parent.path, "file");
    writeFileSync(path, "speech");
    const copy = () => join(parent.path, crypto.randomUUID());
    const asks: readonly [Partial<BucketOptions>, string][] = [
      [{ credentials: { ...store.options().credentials, secretAccessKey: "wrong" } }, "status 403"],
      [{ bucket: "nothing" }, "NoSuchBucket"],
      [{ authority: null }, "certificate"],
      [{ endpoint: "https://localhost:1" }, "connect"],
    ];
    for (const [changes, message] of asks) {
      const bucket = new Bucket({ ...store.options(), ...changes });
      for (const ask of [() => bucket.list(), () => bucket.get("x", copy()), () => bucket.put("x", path)]) {
        await expect(ask()).rejects.toThrow(new RegExp(message, "i"));
      }
    }
    await store.put("/damaged/x", "speech", { "x-amz-meta-sha256": "0".repeat(64) });
    await expect(new Bucket(store.options({ prefix: "damaged/" })).get("x", copy())).rejects.toThrow("damaged");
  });
});
