import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { messageOf } from "../../src/text/index.ts";
import { corpusOption, installScorer, type LivePeer, livePeers, requireCorpus } from "../corpus/index.ts";
import { defineCommand } from "../shared/command.ts";
import { flag, text, texts, UsageError, whole, wholes } from "../shared/options.ts";
import { CommandError } from "../shared/run-command.ts";
import { report, reportOptions } from "../shared/table.ts";
import {
  type KnownTrack,
  knownBeginningOf,
  type LiveRun,
  measureSessions,
  transcribeTrack,
  warmUp,
} from "./live/measure.ts";
import { type LiveProgram, ourName, startOurs, startPeer } from "./live/programs.ts";
import { makeTracks } from "./live/sound.ts";
import { goalRun, goalsOf, LANGUAGE, programsTable, summaryOf, textsOf, waitingTable } from "./live/tables.ts";
import { measureWaiting, type Waiting } from "./live/waiting.ts";
import { makeRecording } from "./recordings.ts";

/**
 * Seconds of each track that are played without --whole. The goals are for two sessions, which therefore play all. The
 * other programs get the beginning, which has every kind of sound.
 */
const SHORT = {
  ours: new Map([
    [1, 105],
    [3, 105],
  ]),
  peers: 105,
};
/** Numbers of sessions of our program, and of the others. */
const SESSIONS = [1, 2, 3];
const PEER_SESSIONS = 1;

const progress = (line: string) => console.error(line);
const peerNames = Object.keys(livePeers) as LivePeer[];

export const command = defineCommand({
  name: "scripts/bench live",
  about:
    "Measures live transcription: plays six minutes of readings, dialogues, meetings, noise and silence in real time in " +
    "sessions at the same time, and measures how long after its end a word appears and is final, how accurate the final " +
    "words are, what a session costs, and what a waiting recording loses. Compares with WhisperLive and WhisperLiveKit, " +
    "which are installed from the package registry into the cache. Takes a quarter of an hour.",
  options: {
    sessions: wholes("numbers of sessions at the same time", { fallback: SESSIONS }),
    only: texts("PART", 'run only the programs whose name contains PART: "transcribe", "WhisperLive "'),
    whole: flag("play all the sound in each run, and also two sessions of the other programs; takes 40 minutes"),
    turns: whole("times that a recording is processed alone and next to sessions", { least: 0, fallback: 2 }),
    language: text("CODE", "give the language to all programs; by default each detects it"),
    ...reportOptions,
    audio: corpusOption,
  },
  async run({ sessions, only, whole: playsAll, turns, language, audio, ...values }) {
    requireCorpus(audio);
    const isWanted = (name: string) => only.length === 0 || only.some((part) => name.includes(part));
    const peers = peerNames.filter((name) => isWanted(livePeers[name]));
    if (!isWanted(ourName) && peers.length === 0) {
      throw new UsageError(`--only selects none of ${[ourName, ...Object.values(livePeers)].join("; ")}`);
    }
    using folder = temporaryDirectory();
    const made = await makeTracks(audio, folder.path);
    const { file } = await makeRecording("dialogues", audio, folder.path);
    const runs: LiveRun[] = [];
    const notes: string[] = [];
    let waiting: Waiting[] = [];
    const tracks: KnownTrack[] = [];
    {
      await using ours = await startOurs(Math.max(...sessions), language);
      const transcribe = (track: (typeof made)["talk"]) => transcribeTrack(ours.server, track, language);
      for (const track of made.tracks) tracks.push(await transcribe(track));
      const talk = await transcribe(made.talk);
      if (isWanted(ourName)) {
        const plan = sessions.map(
          (count) => [count, playsAll ? Infinity : (SHORT.ours.get(count) ?? Infinity)] as const,
        );
        runs.push(...(await measureProgram(ours, tracks, plan)));
        progress("a recording next to sessions");
        waiting = await measureWaiting(ours, { talk, file, turns });
      }
    }
    const counts = playsAll ? sessions.filter((count) => count <= 2) : [PEER_SESSIONS];
    const plan = counts.map((count) => [count, playsAll ? Infinity : SHORT.peers] as const);
    for (const name of peers) {
      try {
        await using peer = await startPeer(name, language);
        runs.push(...(await measureProgram(peer, tracks, plan)));
      } catch (error) {
        notes.push(`${livePeers[name]} was not measured: ${messageOf(error)}`);
        progress(notes.at(-1) ?? "");
      }
    }
    if (runs.length === 0) throw new CommandError("nothing was measured");
    const normalise = await (await installScorer()).normalise(textsOf(runs).map((one) => [LANGUAGE, one] as const));
    const summaries = runs.map((run) => summaryOf(run, normalise));
    const goals = goalsOf(goalRun(summaries, ourName), waiting);
    const sections = [
      programsTable(summaries),
      ...(waiting.length === 0 || turns === 0 ? [] : [waitingTable(waiting)]),
      ...(goals === null ? [] : [goals]),
      ...notes,
    ];
    const terms = [language === null ? "language detected" : `language ${language}`];
    await report({ terms, sections, figures: { runs, summaries, waiting } }, values, "scripts/bench live");
  },
});

/** @param plan numbers of sessions, each with the seconds of the tracks that are played */
async function measureProgram(
  program: LiveProgram,
  tracks: readonly KnownTrack[],
  plan: readonly (readonly [sessions: number, seconds: number])[],
): Promise<LiveRun[]> {
  const [first] = tracks;
  if (first === undefined) return [];
  progress(`${program.name}: warming up`);
  await warmUp(program, first);
  const runs: LiveRun[] = [];
  for (const [sessions, seconds] of plan) {
    progress(`${program.name}: ${sessions} at the same time`);
    const played = Array.from({ length: sessions }, (_, index) => tracks[index % tracks.length] ?? first);
    runs.push(
      await measureSessions(
        program,
        played.map((track) => knownBeginningOf(track, seconds)),
      ),
    );
  }
  return runs;
}
