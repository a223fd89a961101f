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
