import { X509Certificate } from "node:crypto";
import { readCredentials, readCurrentStatus, type StandbyStatus } from "../../../replication/index.ts";
import { readStandbyMarker } from "../../../storage/index.ts";
import { messageOf, size } from "../../../text/index.ts";
import { type Check, type CheckContext, type Finding, ok, problem, skipped, warning } from "../check.ts";

const DAY_MILLISECONDS = 86_400_000;
const END_WARNING_DAYS = 30;
/** Delay that no healthy standby has. */
const LATE_SECONDS = 60;

const copy: Check = {
  id: "standby.copy",
  title: "Copy on the standby",
  explanation:
    "With `standby.listen`: whether a standby follows this server, with how much delay, and how long this machine's certificate is valid. In a standby's data directory: whether `transcribe standby` runs, reaches its server and has a complete copy, with which it can take over.",
  run(context) {
    const { paths, data, settings, server } = context;
    const marker = data === "present" ? readStandbyMarker(paths) : null;
    if (marker !== null) return ofStandby(context, marker.complete);
    if (settings.standby.listen === "") return skipped("no standby follows this server (standby.listen is not set)");
    const fault = certificateFault(context);
    if (fault !== null) return fault;
    if (server === null) return skipped("no server of this data directory runs, which a standby could follow");
    const status = currentStatus(context);
    if (status?.phase === "following") return following(status);
    const isRefusing = settings.standby.wait;
    const summary =
      status === null || status.from === null ? "no standby is connected" : `${status.from} copies the data`;
    return (isRefusing ? problem : warning)(
      isRefusing ? `${summary}, so changes are refused (standby.wait)` : summary,
      {
        advice:
          "Start it on its machine: transcribe standby. Its log has the reason if it cannot connect (standby.connection_lost), and this server's log if it was refused (standby.refused).",
      },
    );
  },
};

function ofStandby(context: CheckContext, isComplete: boolean): Finding {
  const status = currentStatus(context);
  if (status === null) {
    return problem("transcribe standby does not run, so this copy gets older", {
      advice: "Start it, or let this machine take over with transcribe promote if the server is lost.",
    });
  }
  if (status.phase === "following") return following(status);
  if (status.phase === "connecting") {
    return problem(`${status.from} cannot be reached, so this copy gets older`, {
      advice: "The log of transcribe standby has the reason: standby.connection_lost.",
    });
  }
  if (isComplete) return ok("the standby is being brought up to date");
  return warning("the first copy is not complete, so this machine cannot take over yet", {
    advice: "Wait until transcribe standby status shows that it follows.",
  });
}

function following({ from, delaySeconds, behindBytes }: StandbyStatus): Finding {
  const delay = `${(delaySeconds ?? 0).toFixed(1)} s, ${size(behindBytes ?? 0)}`;
  if ((delaySeconds ?? 0) < LATE_SECONDS) return ok("the standby follows", `${from}; behind by ${delay}`);
  return warning(`the standby is behind by ${delay}`, {
    advice: "Compare the network and the disks of both machines with the load: transcribe standby status on both.",
  });
}

/** Returns the status of the copy that a running process has written; null if none runs. */
export function currentStatus({ paths, machine }: CheckContext): StandbyStatus | null {
  return readCurrentStatus(paths, machine.now());
}

function certificateFault({ settings: { standby }, machine }: CheckContext): Finding | null {
  const advice = "Create or renew the files with transcribe standby init, see docs/standby.md.";
  try {
    const certificate = new X509Certificate(readCredentials(standby).certificate);
    const days = Math.floor((Date.parse(certificate.validTo) - machine.now()) / DAY_MILLISECONDS);
    if (days < 0) return problem("the certificate of standby.certificate has expired", { advice });
    if (days < END_WARNING_DAYS)
      return warning(`the certificate of standby.certificate expires in ${days} days`, { advice });
    return null;
  } catch (error) {
    return problem("no standby can connect", { detail: [messageOf(error)], advice });
  }
}

export const standbyCopyChecks = [copy];
