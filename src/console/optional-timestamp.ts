import { timestamp } from "../http/index.ts";

export function optionalTimestamp(milliseconds: number | null): string | null {
  return milliseconds === null ? null : timestamp(milliseconds);
}
