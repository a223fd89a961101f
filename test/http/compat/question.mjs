// Gives the scripts that call a server with an SDK the test's question, and records the SDK's pauses.

import { readFileSync } from "node:fs";

export const question = JSON.parse(readFileSync(0, "utf8"));
export const sound = readFileSync(question.file);

/** The pauses before a retry, in milliseconds. They are not waited for. */
export const pauses = [];
const startTimer = globalThis.setTimeout;
globalThis.setTimeout = (run, milliseconds, ...values) => {
  if (milliseconds !== 10_000) return startTimer(run, milliseconds, ...values);
  pauses.push(milliseconds);
  return startTimer(run, 0, ...values);
};

export const control = (name) => fetch(`${question.control_url}/${name}`).then((answer) => answer.text());
