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
import { GOAL, goalRun, goalsOf, LANGUAGE, programsTable, summaryOf, textsOf, waitingTable } from "./live/tables.ts";
import { MOST_BESIDE, measureWaiting, type Waiting } from "./live/waiting.ts";
import { makeRecording } from "./recordings.ts";

/** Seconds of each track that are played without --whole, unless the goals are for that run. */
const SHORT_SECONDS = 80;
const SESSIONS = [1, 2, 3];

const progress = (line: string) => console.error(`bench: ${line}`);
const peerNames = Object.keys(livePeers) as LivePeer[];

/** Sessions at the same time, and the seconds of each track that they play. */
interface PlannedRun {
  readonly sessions: number;
  readonly seconds: number;
}

export const command = defineCommand({
  name: "scripts/bench live",
  about:
    "Measures live transcription: plays six minutes of readings, dialogues, meetings, noise and silence in real time in " +
    "sessions at the same time, and measures how long after its end a word appears and is final, how accurate the final " +
    "words are, what a session costs, and what a waiting recording loses. Compares with WhisperLive and WhisperLiveKit, " +
    "which are installed from the package registry into the cache. Takes a quarter of an hour.",
  options: {
    sessions: wholes("numbers of sessions at the same time", { fallback: SESSIONS }),
    only: texts("PART", 'run only the programs whose name contains PART: "transcribe", "AlignAtt"'),
    whole: flag("play all the sound in each run, and also two sessions of the other programs; takes 40 minutes"),
    turns: whole("times that a recording is processed alone and next to sessions", { least: 0, fallback: 2 }),
    language: text("CODE", "give the language to our program, too, instead of letting it detect that of each turn"),
    ...reportOptions,
    audio: corpusOption,
  },
  async run({ sessions, only, whole: playsAll, turns, language, audio, ...values }) {
    const isWanted = (name: string) => only.length === 0 || only.some((part) => name.includes(part));
    const peers = peerNames.filter((name) => isWanted(livePeers[name]));
    if (!isWanted(ourName) && peers.length === 0) {
      throw new UsageError(`--only selects none of ${[ourName, ...Object.values(livePeers)].join("; ")}`);
    }
    requireCorpus(audio);
    using folder = temporaryDirectory();
    const made = await makeTracks(audio, folder.path);
    const { file } = await makeRecording("dialogues", audio, folder.path);
    const runs: LiveRun[] = [];
    const notes: string[] = [];
    const note = (line: string) => {
      notes.push(line);
      progress(line);
    };
    const tracks: KnownTrack[] = [];
    let waiting: Waiting[] = [];
    {
      await using ours = await startOurs(Math.max(...sessions, MOST_BESIDE), language);
      progress("batch transcripts of the sound");
      for (const track of made.tracks) tracks.push(await transcribeTrack(ours.server, track, language));
      if (isWanted(ourName)) {
        const talk = await transcribeTrack(ours.server, made.talk, language);
        runs.push(...(await measureProgram(ours, tracks, ourPlan(sessions, playsAll), note)));
        progress("a recording next to sessions");
        try {
          if (turns > 0) waiting = await measureWaiting(ours, { talk, file, turns });
        } catch (error) {
          note(`a recording next to sessions was not measured: ${messageOf(error)}`);
        }
      }
    }
    for (const name of peers) {
      try {
        await using peer = await startPeer(name, language ?? LANGUAGE);
        runs.push(...(await measureProgram(peer, tracks, peerPlan(sessions, playsAll), note)));
      } catch (error) {
        note(`${livePeers[name]} was not measured: ${messageOf(error)}`);
      }
    }
    if (runs.length === 0) throw new CommandError(notes.join("; "));
    const normalise = await (await installScorer()).normalise(textsOf(runs).map((one) => [LANGUAGE, one] as const));
    const summaries = runs.map((run) => summaryOf(run, normalise));
    const goals = goalsOf(goalRun(summaries, ourName), waiting);
    const sections = [
      programsTable(summaries),
      ...(waiting.length === 0 ? [] : [waitingTable(waiting)]),
      ...(goals === null ? [] : [goals]),
      ...notes.map((line) => `${line}.`),
    ];
    const detected = `language detected by ours, ${LANGUAGE} given to the others`;
    const terms = [language === null ? detected : `language ${language}`];
    await report({ terms, sections, figures: { runs, summaries, waiting } }, values, "scripts/bench live");
  },
});

/** The run of the goals plays all sound, because the accuracy of the words needs that many of them. */
function ourPlan(numbers: readonly number[], playsAll: boolean): PlannedRun[] {
  return numbers.map((sessions) => {
    return { sessions, seconds: playsAll || sessions === GOAL.sessions ? Number.POSITIVE_INFINITY : SHORT_SECONDS };
  });
}

function peerPlan(numbers: readonly number[], playsAll: boolean): PlannedRun[] {
  if (!playsAll) return [{ sessions: 1, seconds: SHORT_SECONDS }];
  return numbers
    .filter((sessions) => sessions <= GOAL.sessions)
    .map((sessions) => ({ sessions, seconds: Number.POSITIVE_INFINITY }));
}

/** Measures the runs of a program. @param note receives a line for each run that failed */
async function measureProgram(
  program: LiveProgram,
  tracks: readonly KnownTrack[],
  plan: readonly PlannedRun[],
  note: (line: string) => void,
): Promise<LiveRun[]> {
  const [first] = tracks;
  if (first === undefined) return [];
  progress(`${program.name}: warming up`);
  await warmUp(program, first);
  const runs: LiveRun[] = [];
  for (const { sessions, seconds } of plan) {
    progress(`${program.name}: sessions at the same time: ${sessions}`);
    const played = Array.from({ length: sessions }, (_, index) => {
      return knownBeginningOf(tracks[index % tracks.length] ?? first, seconds);
    });
    try {
      runs.push(await measureSessions(program, played));
    } catch (error) {
      note(`${program.name}, sessions at the same time: ${sessions}, was not measured: ${messageOf(error)}`);
    }
  }
  return runs;
}
