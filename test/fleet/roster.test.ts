import { expect, test } from "bun:test";
import pino from "pino";
import { MachineLog } from "../../src/fleet/machine-log.ts";
import { Roster } from "../../src/fleet/roster.ts";

const presence = {
  machine: "w0",
  instance: "i",
  version: "1",
  build: "test",
  models: [],
  devices: ["CPU"],
  lanes: 2,
  busy: 0,
  clock: 0,
  trouble: null,
  leaves: false,
};

/** A roster whose clock can be set, and the events that it logs. */
function rosterAt(start: number) {
  const clock = { now: start };
  const events: string[] = [];
  const log = pino({}, { write: (line) => void events.push(JSON.parse(line).event) });
  const roster = new Roster({ build: "test", version: "1" }, () => clock.now, new MachineLog(log, () => clock.now));
  const note = (others: object = {}) => roster.note({ ...presence, clock: clock.now, ...others });
  return { clock, events, roster, note };
}

test("a machine is gone after four checks without a message, and a clock that is set makes none gone", () => {
  const { clock, roster, note } = rosterAt(0);
  note();
  clock.now = 3_600_000;
  for (let check = 0; check < 3; check++) roster.removeGone();
  expect(roster.lanes(null)).toBe(2);
  note();
  for (let check = 0; check < 3; check++) roster.removeGone();
  expect(roster.lanes(null)).toBe(2);
  roster.removeGone();
  expect(roster.machines()).toEqual([]);
});

test("a machine gets no operations for ten minutes after three faults within ten minutes", () => {
  const { clock, roster, note } = rosterAt(0);
  note();
  roster.blame("w0");
  roster.blame("w0");
  clock.now = 600_001;
  note();
  roster.blame("w0");
  expect(roster.lanes(null)).toBe(2);
  roster.blame("w0");
  roster.blame("w0");
  expect([roster.lanes(null), roster.paused()]).toEqual([
    0,
    [{ machine: "w0", reason: expect.stringContaining("gets none until 00:20:00 UTC") }],
  ]);
  clock.now += 600_000;
  note();
  expect([roster.lanes(null), roster.paused()]).toEqual([2, []]);
});

test("a machine that joins and leaves all the time fills no log", () => {
  const { clock, events, note } = rosterAt(0);
  for (let time = 0; time < 1000; time++) note({ leaves: time % 2 === 1 });
  expect([events.length, events.at(-1)]).toEqual([21, "fleet.log_limited"]);
  clock.now = 60_000;
  note();
  expect(events.at(-1)).toBe("fleet.worker_joined");
});

test("a pool whose workers fail under ever new names gets no operations for ten minutes, and other machines do", () => {
  const { clock, events, roster, note } = rosterAt(0);
  note();
  note({ machine: "cpu.a" });
  for (let at = 0; at < 14; at++) {
    const machine = `gpu.n${at}`;
    note({ machine });
    roster.blame(machine);
    note({ machine, leaves: true });
  }
  note({ machine: "gpu.honest" });
  expect(roster.lanes(null, "gpu")).toBe(2);
  roster.blame("gpu.n99");
  expect(events.at(-1)).toBe("fleet.pool_paused");
  expect([roster.lanes(null, "gpu"), roster.lanes(null, "cpu"), roster.lanes(null, "")]).toEqual([0, 2, 2]);
  expect(roster.paused()).toEqual([{ machine: "gpu.honest", reason: expect.stringContaining("revoke the pool") }]);
  clock.now = 600_000;
  for (const machine of ["w0", "cpu.a", "gpu.honest"]) note({ machine });
  expect([roster.lanes(null, "gpu"), roster.paused()]).toEqual([2, []]);
});

test("the larger a pool, the more of its workers may fail before all are paused", () => {
  const { roster, note } = rosterAt(0);
  for (let at = 0; at < 100; at++) note({ machine: `gpu.n${at}` });
  for (let at = 0; at < 24; at++) for (let fault = 0; fault < 3; fault++) roster.blame(`gpu.n${at}`);
  expect(roster.lanes(null, "gpu")).toBe(76 * 2);
  for (let fault = 0; fault < 3; fault++) roster.blame("gpu.n99");
  expect(roster.lanes(null, "gpu")).toBe(0);
});

test("a pool has at most 500 workers, and a place becomes free when one is gone", () => {
  const { roster, note } = rosterAt(0);
  for (let at = 0; at < 500; at++) note({ machine: `gpu.n${at}` });
  expect(() => note({ machine: "gpu.late" })).toThrow("the pool gpu has 500 workers already");
  for (const machine of ["gpu.n7", "cpu.a", "w1"]) note({ machine });
  expect(roster.machines().length).toBe(502);
  for (let check = 0; check < 4; check++) {
    roster.removeGone();
    note({ machine: "gpu.n7" });
  }
  note({ machine: "gpu.late" });
  expect(roster.machines().map(({ machine }) => machine)).toEqual(["gpu.late", "gpu.n7"]);
  expect([roster.hasPool("gpu"), roster.hasPool("cpu")]).toEqual([true, false]);
});

test("all workers of a pool together write a limited number of lines into the log", () => {
  const { events, note } = rosterAt(0);
  for (let at = 0; at < 400; at++) note({ machine: `gpu.n${at}` });
  expect([events.length, events.at(-1)]).toEqual([101, "fleet.log_limited"]);
});
