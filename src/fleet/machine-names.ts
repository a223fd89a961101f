import { ExpectedError } from "../text/index.ts";

/**
 * Names in a fleet. A machine has the name in its certificate. A worker of a pool shares its certificate with the pool's
 * other workers, and has the name `POOL.INSTANCE`: the broker lets it publish only subjects that end with the pool's name
 * and one more token.
 */

/** A name in a certificate: a label of a host name (RFC 1035, 2.3.4). */
export const CERTIFICATE_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** A worker's name in its pool. Host names that were changed to one token may have underscores. */
const INSTANCE_NAME = /^[A-Za-z0-9](?:[\w-]{0,61}[A-Za-z0-9])?$/;

/** Pattern of the name of a machine in messages. */
export const MACHINE_PATTERN = "^(?:[\\w-]{1,100}|[A-Za-z0-9-]{1,63}\\.[\\w-]{1,63})$";

/** The name of a worker of a pool is not usable; the message says what to do. */
class InstanceNameError extends ExpectedError {
  override readonly name = "InstanceNameError";
}

/** Returns a text as one token of a subject. */
export function subjectToken(text: string): string {
  return text.replaceAll(/[^\w-]/g, "_") || "_";
}

/**
 * Returns the name of a machine in its fleet.
 * @param pool empty: the machine has a certificate of its own
 * @param name the machine's own name, or its host name
 * @throws {InstanceNameError} if a worker of a pool cannot have this name
 */
export function machineName(pool: string, name: string): string {
  const own = subjectToken(name);
  if (pool === "") return own;
  if (INSTANCE_NAME.test(own)) return `${pool}.${own}`;
  throw new InstanceNameError(
    `"${name}" cannot be the name of a worker of the pool ${pool}; set fleet.machine to 1 to 63 letters, digits, underscores and hyphens that begin and end with a letter or digit`,
  );
}

/** Returns the pool of a machine; empty if the machine has a certificate of its own. */
export function poolOf(machine: string): string {
  const dot = machine.indexOf(".");
  return dot < 0 ? "" : machine.slice(0, dot);
}
