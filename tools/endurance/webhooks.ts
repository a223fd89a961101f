import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { killSender } from "../../harness/webhook-kills.ts";
import { none, type PartOptions, type Row, row } from "./rows.ts";

/** Recordings, of which every fifth has two events. */
const RECORDINGS = 8_400;
const KILLS = 50;
const OUTAGE_MILLISECONDS = 3_600_000;
/** The outage takes three minutes, in which all events are stored. */
const SPEED = 20;

/** Sends ten thousand events to a receiver that is down for an hour, while the sender is killed fifty times. */
export async function webhooks({ reportProgress }: Pick<PartOptions, "reportProgress">): Promise<Row[]> {
  using temporary = temporaryDirectory();
  reportProgress(`${KILLS} kills, with the receiver down for an hour of the sender's clock`);
  const plan = { recordings: RECORDINGS, kills: KILLS, outageMilliseconds: OUTAGE_MILLISECONDS, speed: SPEED };
  const outcome = await killSender({ directory: temporary.path, ...plan });
  const { kills, events, refused, repeated, lost, unstable, disordered } = outcome;
  const over = `${kills} kills, ${refused} attempts refused in the outage, ${repeated} messages repeated`;
  return [
    row("kills of the sender", kills, over, String(KILLS), kills === KILLS),
    row("events", events, over, "10000 or more", events >= 10_000),
    none("events that the receiver never got", lost, over),
    none("events with several ids, and ids with several bodies", unstable, over),
    none("recordings whose events came in another order", disordered, over),
  ];
}
