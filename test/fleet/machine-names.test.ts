import { expect, test } from "bun:test";
import { MACHINE_PATTERN, machineName, poolOf } from "../../src/fleet/machine-names.ts";

test.each([
  ["", "gpu1", "gpu1"],
  ["", "node.example.org", "node_example_org"],
  ["gpu", "pod-5d8f7c9b6c-x7k2p", "gpu.pod-5d8f7c9b6c-x7k2p"],
  ["gpu", "node.example.org", "gpu.node_example_org"],
  ["gpu", "a", "gpu.a"],
])("in the pool %p, %p is called %p", (pool, name, expected) => {
  const machine = machineName(pool, name);
  expect([machine, poolOf(machine)]).toEqual([expected, pool]);
  expect(machine).toMatch(new RegExp(MACHINE_PATTERN));
});

test.each(["", "-pod", "pod-", "*", ">", ".", "a".repeat(64), " pod"])("no worker of a pool is called %p", (name) => {
  expect(() => machineName("gpu", name)).toThrow("set fleet.machine to 1 to 63 letters");
});

test.each(["gpu.", ".a", "gpu.a.b", "gpu.*", "gpu.>", "gpu a", "", "gpu.a\n"])(
  "no message may name the machine %p",
  (name) => {
    expect(name).not.toMatch(new RegExp(MACHINE_PATTERN));
  },
);
