import { expect, test } from "bun:test";
import { type StatsFs, statfsSync } from "node:fs";
import { DiskSpace, WorkReservations } from "../../src/disk/index.ts";

/** A disk of 1000 bytes with work files, and other files of which the test says the size. */
function disk({ others = 0, reserve = 0 } = {}) {
  const real = statfsSync("/");
  const state = { others, files: new Map<string, number>() };
  const statfs = (): StatsFs => {
    const used = [...state.files.values()].reduce((sum, bytes) => sum + bytes, state.others);
    return { ...real, bsize: 1, blocks: 1000, bavail: 1000 - used, files: 1000, ffree: 1000 };
  };
  const all = new DiskSpace("/", () => reserve, statfs);
  const reservations = new WorkReservations(all);
  return {
    ...{ all, reservations, state },
    write(id: string, bytes: number) {
      state.files.set(id, (state.files.get(id) ?? 0) + bytes);
      reservations.written(id, bytes);
    },
    end(id: string) {
      state.files.delete(id);
      reservations.ended(id);
    },
  };
}

test("space reserved for one recording is refused to other work and to new recordings until it ends", () => {
  const { all, reservations, write, end } = disk();
  reservations.reserve("first", 600);
  expect(() => reservations.reserve("second", 500)).toThrow("the disk is full");
  expect(all.shortage(401, "intake")).not.toBeNull();
  write("first", 600);
  expect(() => reservations.reserve("second", 500)).toThrow("the disk is full");
  end("first");
  reservations.reserve("second", 500);
});

test("a recording that needs much space waits for earlier ones, and no later recording overtakes it", () => {
  const { reservations, write, end } = disk();
  reservations.reserve("first", 600);
  write("first", 300);
  expect(() => reservations.reserve("big", 900)).toThrow("the disk is full");
  for (let later = 0; later < 5; later++) {
    expect(() => reservations.reserve(`small ${later}`, 10)).toThrow(
      "reserved for a recording that requested it earlier",
    );
  }
  end("first");
  reservations.reserve("big", 900);
  reservations.reserve("small 3", 10);
});

test("a recording that waits for space which no recording will free holds up no other", () => {
  const { reservations, state, end } = disk({ others: 500 });
  reservations.reserve("first", 100);
  expect(() => reservations.reserve("big", 900)).toThrow("the disk is full");
  reservations.reserve("small", 10);
  state.others = 0;
  end("first");
  expect(() => reservations.reserve("later", 100)).toThrow("reserved for a recording that requested it earlier");
  end("small");
  reservations.reserve("big", 900);
});

test("space that is reserved and not written yet counts as space that will be free", () => {
  const { reservations, end } = disk();
  reservations.reserve("first", 600);
  expect(() => reservations.reserve("big", 900)).toThrow("the disk is full");
  expect(() => reservations.reserve("small", 10)).toThrow("reserved for a recording that requested it earlier");
  end("first");
  reservations.reserve("big", 900);
});

test("a recording that ended while it waited holds up no other", () => {
  const { reservations, write, end } = disk();
  reservations.reserve("first", 600);
  write("first", 300);
  expect(() => reservations.reserve("big", 900)).toThrow();
  end("big");
  reservations.reserve("small", 10);
});

test("a recording whose audio is decoded already gets the rest of its space, whatever others hold", () => {
  const { reservations, write } = disk();
  reservations.reserve("first", 950);
  write("first", 950);
  reservations.reserveAnyway("first", 100, 800);
  reservations.reserveAnyway("taken over", 100, 0);
  expect(() => reservations.reserve("other", 1)).toThrow();
  expect(() => write("taken over", 60)).not.toThrow();
});

test("a new reservation of a recording replaces its earlier one", () => {
  const { reservations } = disk();
  reservations.reserve("first", 900);
  reservations.reserve("first", 1000);
  reservations.release("first");
  reservations.reserve("second", 1000);
});

test.each([
  [1000, 0, true],
  [1001, 0, false],
  [990, 160, true],
  [991, 160, false],
  // A reserve larger than the disk is a mistake in the settings, for which no recording may fail.
  [930, 1_000_000, true],
])("whether %i bytes could fit on the whole disk with a reserve of %i: %p", (bytes, reserve, could) => {
  expect(disk({ others: 900, reserve }).reservations.couldFit(bytes)).toBe(could);
});
