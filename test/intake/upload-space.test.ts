import { describe, expect, test } from "bun:test";
import { type StatsFs, statfsSync } from "node:fs";
import { DiskSpace } from "../../src/disk/index.ts";
import { UploadSpace } from "../../src/intake/upload-space.ts";

const KB = 1000;
const MB = 1000 * KB;
const real = statfsSync("/");

/** A disk of 1000 MB with a reserve of 100 MB that contains only uploads. */
function disk({ freeBytes = 1000 * MB } = {}) {
  let free = freeBytes;
  const look = (): StatsFs => ({ ...real, bsize: 1, blocks: 1000 * MB, bavail: free, files: 0, ffree: 0 });
  const room = new DiskSpace("/", () => 100 * MB, look);
  const space = new UploadSpace(room);
  const upload = (accountId: string) => {
    const reservation = space.reserve(accountId);
    let written = 0;
    return {
      /** Sends chunks of 64 kB until the given bytes have arrived or the upload is refused. */
      send(bytes: number) {
        for (let sent = 0; sent < bytes; sent += 64 * KB) {
          const refusal = reservation.extend(64 * KB);
          if (refusal !== null) return refusal;
          written += 64 * KB;
          free -= 64 * KB;
        }
        return null;
      },
      get written() {
        return written;
      },
      end() {
        reservation[Symbol.dispose]();
        free += written;
        written = 0;
      },
    };
  };
  return { room, space, upload };
}

describe("the disk space of unfinished uploads", () => {
  test("is taken by received bytes, not by a Content-Length or the beginning of an upload", () => {
    const { room, space, upload } = disk();
    for (let count = 0; count < 200; count++) {
      expect(space.refusal("greedy", 150 * MB)).toBeNull();
      expect(upload("greedy").send(20 * KB)).toBeNull();
    }
    expect(room.shortage(880 * MB, "intake")).toBeNull();
  });

  test("of one account is at most a fifth of the free space above the reserve, in one upload or in several", () => {
    for (const uploads of [1, 5]) {
      const { upload } = disk();
      const all = Array.from({ length: uploads }, () => upload("greedy"));
      for (const one of all.slice(1)) expect(one.send(30 * MB)).toBeNull();
      expect(all[0]?.send(500 * MB)).toBe("account_share_full");
      const written = all.reduce((sum, one) => sum + one.written, 0);
      expect(written).toBeWithin(178 * MB, 182 * MB);
    }
  });

  test("is free again for the account when one of its uploads has ended, and never reduces another account's share", () => {
    const { space, upload } = disk();
    const [first, second] = [upload("greedy"), upload("greedy")];
    expect(first.send(100 * MB)).toBeNull();
    expect(second.send(100 * MB)).toBe("account_share_full");
    expect(space.refusal("greedy", 10 * MB)).toBe("account_share_full");
    expect(upload("other").send(100 * MB)).toBeNull();
    first.end();
    expect(space.refusal("greedy", 10 * MB)).toBeNull();
    expect(second.send(50 * MB)).toBeNull();
  });

  test.each([2, 10, 20])("never uses up the whole disk, although %i accounts take all they can", (accounts) => {
    const { room, upload } = disk();
    for (let index = 0; index < accounts; index++) {
      expect(upload(`account-${index}`).send(1000 * MB)).toBe("account_share_full");
    }
    expect(room.shortage(0, "intake")).toBeNull();
    // The next account's small recording still fits.
    expect(upload("small").send(KB)).toBeNull();
    // Each account takes a fifth of the space that the accounts before it have left.
    expect(room.freeBytes("intake") / (900 * MB * 0.8 ** accounts)).toBeWithin(0.9, 1.1);
  });

  test("ends at the reserve, whichever accounts have taken the rest", () => {
    const { space, upload } = disk({ freeBytes: 100 * MB + 10 });
    expect(upload("first").send(64 * KB)).toBe("disk_full");
    expect(space.refusal("first", 11)).toBe("disk_full");
  });

  test("limits the largest possible upload to a fifth of the whole disk without its reserve", () => {
    expect(disk({ freeBytes: 5 * MB }).space.capacityBytes).toBe(Math.floor((1000 * MB - (1000 * MB) / 16) / 5));
  });
});
