import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { readJsonLines } from "../../../tools/bench/json-lines.ts";

/** Reads the lines of a script of the shell. */
async function read(script: string, seconds = 30) {
  const speeds: number[] = [];
  const missing = await readJsonLines(["/bin/sh", "-c", script], Type.Object({ speed: Type.Number() }), {
    ...{ seconds, environment: { SPEED: "96.5" } },
    onLine: ({ speed }) => speeds.push(speed),
  });
  return { speeds, missing };
}

test("the results of a program count, and its other output does not", async () => {
  const { speeds, missing } = await read(`echo '{"speed": 8}'; echo loading; echo "{\\"speed\\": $SPEED}"`);
  expect({ speeds, missing }).toEqual({ speeds: [8, 96.5], missing: null });
});

test("the results until the time is over count", async () => {
  const { speeds, missing } = await read(`echo '{"speed": 8}'; exec sleep 60`, 2);
  expect(speeds).toEqual([8]);
  expect(missing).toMatch(/^it was ended after/);
});

test("a program that fails is the reason for missing results", async () => {
  const failed = await read(`echo '{"speed": 8}'; echo trouble >&2; exit 3`);
  expect(failed).toEqual({ speeds: [8], missing: "it ended with status 3: trouble" });
});
