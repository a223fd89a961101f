import { expect, test } from "bun:test";
import { type StatsFs, statfsSync } from "node:fs";
import { DiskSpace, WorkReservations } from "../../src/storage/index.ts";

/** A disk of 1000 bytes with nothing but work files on it, of which others have taken some. */
function disk({ others = 0, reserve = 0 } = {}) {
  const real = statfsSync("/");
  const state = { others, files: new Map<string, number>() };
  const look = (): StatsFs => {
    const used = [...state.files.values()].reduce((sum, bytes) => sum + bytes, state.others);
    return { ...real, bsize: 1, blocks: 1000, bavail: 1000 - used, files: 1000, ffree: 1000 };
  };
  const all = new DiskSpace("/", () => reserve, look);
  const room = new WorkReservations(all);
  return {
    ...{ all, room, state },
    write(id: string, bytes: number) {
      state.files.set(id, (state.files.get(id) ?? 0) + bytes);
      room.written(id, bytes);
    },
    end(id: string) {
      state.files.delete(id);
      room.ended(id);
    },
  };
}

test("what is promised to one recording is nobody else's until it ends, and creates don't get it", () => {
  const { all, room, write, end } = disk();
  room.reserve("first", 600);
  expect(() => room.reserve("second", 500)).toThrow("the disk is full");
  expect(all.shortage(401, "intake")).not.toBeNull();
  write("first", 600);
  expect(() => room.reserve("second", 500)).toThrow("the disk is full");
  end("first");
  room.reserve("second", 500);
});

test("one that needs more than is left waits for those before it, and none that came later goes before it", () => {
  const { room, write, end } = disk();
  room.reserve("first", 600);
  write("first", 300);
  expect(() => room.reserve("big", 900)).toThrow("the disk is full");
  for (let later = 0; later < 5; later++) {
    expect(() => room.reserve(`small ${later}`, 10)).toThrow("kept for a recording that asked before");
  }
  end("first");
  room.reserve("big", 900);
  room.reserve("small 3", 10);
});

test("one that waits for what no recording frees holds nobody up, and gets it when it is there", () => {
  const { room, state, end } = disk({ others: 500 });
  room.reserve("first", 100);
  expect(() => room.reserve("big", 900)).toThrow("the disk is full");
  room.reserve("small", 10);
  state.others = 0;
  end("first");
  expect(() => room.reserve("later", 100)).toThrow("kept for a recording that asked before");
  end("small");
  room.reserve("big", 900);
});

test("what is promised and not written yet is taken to become free, too", () => {
  const { room, end } = disk();
  room.reserve("first", 600);
  expect(() => room.reserve("big", 900)).toThrow("the disk is full");
  expect(() => room.reserve("small", 10)).toThrow("kept for a recording that asked before");
  end("first");
  room.reserve("big", 900);
});

test("one that ended while it waited keeps nothing", () => {
  const { room, write, end } = disk();
  room.reserve("first", 600);
  write("first", 300);
  expect(() => room.reserve("big", 900)).toThrow();
  end("big");
  room.reserve("small", 10);
});

test("one whose sound is there already gets the rest, whatever others have, and goes before all that ask", () => {
  const { room, write } = disk();
  room.reserve("first", 950);
  write("first", 950);
  room.reserveAnyway("first", 100, 800);
  room.reserveAnyway("taken over", 100, 0);
  expect(() => room.reserve("other", 1)).toThrow();
  expect(() => write("taken over", 60)).not.toThrow();
});

test("in place of what it held a recording is promised what it asks for now", () => {
  const { room } = disk();
  room.reserve("first", 900);
  room.reserve("first", 1000);
  room.release("first");
  room.reserve("second", 1000);
});

test.each([
  [1000, 0, true],
  [1001, 0, false],
  [990, 160, true],
  [991, 160, false],
  // A reserve of more than the disk is a mistake, for which no recording is given up.
  [930, 1_000_000, true],
])("%i bytes on the whole disk with a reserve of %i: %p", (bytes, reserve, could) => {
  expect(disk({ others: 900, reserve }).room.couldFit(bytes)).toBe(could);
});
