import { Command, InvalidArgumentError, Option } from "commander";
import type { editing } from "../../api-contract/index.ts";
import { values } from "../../database/index.ts";
import { type Status, tags } from "../../recordings/index.ts";
import { type JsonOption, print, printTable } from "../output.ts";
import { each, listOf, parsedBy, positiveNumber, resourceId, someText } from "../parse-option.ts";
import { printable } from "../printable.ts";
import { clockTime } from "../recording-texts.ts";
import { addServerOptions, withClient } from "./connection.ts";
import { changeEach } from "./recordings.ts";

const { statuses } = values;

/** transcribe cancel ID… */
export function cancelCommand(): Command {
  const command = new Command("cancel")
    .description("Cancel queued or processing recordings, or the processing again of completed ones.")
    .argument("<id...>", "ids of recordings", each(resourceId))
    .option("--json", "print as JSON, for each recording: id, cancelled, error");
  return addServerOptions(command).action((ids: string[], options: JsonOption) =>
    withClient(command, (client) => changeEach(client, ids, options, "cancelled", (id) => client.cancel(id))),
  );
}

/** Parses `A=Name`. An empty name removes the one that the speaker has. */
function speakerName(text: string): readonly [letter: string, name: string] {
  const [, letter, name] = /^([A-Z]{1,2})=(.{0,100})$/su.exec(text) ?? [];
  if (letter !== undefined && name !== undefined) return [letter, name];
  throw new InvalidArgumentError("It takes the letter of a speaker and a name, such as A=Ada.");
}

/** Parses `B=A`. */
function speakerPair(text: string): { readonly speaker: string; readonly into: string } {
  const [, speaker, into] = /^([A-Z]{1,2})=([A-Z]{1,2})$/.exec(text) ?? [];
  if (speaker !== undefined && into !== undefined && speaker !== into) return { speaker, into };
  throw new InvalidArgumentError("It takes the letters of two speakers, such as C=A.");
}

interface SpeakersOptions extends JsonOption {
  readonly name?: readonly (readonly [letter: string, name: string])[];
  readonly merge?: ReturnType<typeof speakerPair>;
}

/** transcribe speakers ID */
export function speakersCommand(): Command {
  const command = new Command("speakers")
    .description("List the speakers of a completed recording, name them, or merge two of them.")
    .argument("<id>", "the recording's id", resourceId)
    .option("--name <letter=name>", "name a speaker: A=Ada; A= removes the name; can be repeated", each(speakerName))
    .option("--merge <letters>", "assign all segments of one speaker to another: C=A. Names come first", speakerPair)
    .option("--json", "print the speakers as JSON");
  return addServerOptions(command).action((id: string, options: SpeakersOptions) =>
    withClient(command, async (client) => {
      const { name, merge } = options;
      if (name !== undefined) {
        await client.nameSpeakers(id, Object.fromEntries(name.map(([letter, text]) => [letter, text || null])));
      }
      if (merge !== undefined) await client.mergeSpeakers(id, (await client.speakers(id)).revision, merge);
      const { data } = await client.speakers(id);
      printTable(options, data, (speaker) => speaker, "no speakers", {
        SPEAKER: ({ speaker }) => printable(speaker),
        NAME: (speaker) => printable(speaker.name ?? "-"),
      });
    }),
  );
}

/** Parses tags that are separated by commas. An empty text has no tags. */
const tagList = parsedBy((text) => (text.trim() === "" ? [] : text.split(",").map(tags.parseTag)));

interface TagsOptions extends JsonOption {
  readonly set?: readonly string[];
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

/** transcribe tags ID */
export function tagsCommand(): Command {
  const command = new Command("tags")
    .description("List the tags of a recording, or change them.")
    .argument("<id>", "the recording's id", resourceId)
    .addOption(
      new Option("--set <tags>", "replace all tags, separated by commas; an empty text removes them")
        .argParser(tagList)
        .conflicts(["add", "remove"]),
    )
    .option("--add <tags>", "add tags, separated by commas", tagList)
    .option("--remove <tags>", "remove tags, separated by commas", tagList)
    .option("--json", "print the tags as JSON");
  return addServerOptions(command).action((id: string, { set, add = [], remove = [], ...options }: TagsOptions) =>
    withClient(command, async (client) => {
      const before = await client.tags(id);
      const kept = [...before, ...add].filter((tag) => !remove.includes(tag));
      const wanted = set ?? kept;
      const isChanged = set !== undefined || add.length > 0 || remove.length > 0;
      const after = isChanged ? await client.setTags(id, wanted) : before;
      print(options, after, () => after.map(printable).join("\n"));
    }),
  );
}

interface SearchOptions extends JsonOption {
  readonly tag?: string;
  readonly status?: readonly Status[];
  readonly limit: number;
}

/** transcribe search WORDS… */
export function searchCommand(): Command {
  const command = new Command("search")
    .description("Search in the transcripts and names of the recordings that the key may access, newest first.")
    .argument("<words...>", 'words that a segment has; words in "quotation marks" follow each other', each(someText))
    .option("--tag <tag>", "only recordings with this tag", parsedBy(tags.parseTag))
    .option("--status <statuses>", `only these: ${statuses.join(", ")}; separated by commas`, listOf(statuses))
    .option("--limit <number>", "maximum number of recordings", positiveNumber, 20)
    .option("--json", "print the result as JSON");
  return addServerOptions(command).action((words: string[], { tag, status, limit, ...options }: SearchOptions) =>
    withClient(command, async (client) => {
      const found = await client.search(words.join(" "), limit, { tag, status: status?.join(",") });
      print(options, found, () => (found.length === 0 ? "no recordings" : found.map(describe).join("\n\n")));
    }),
  );
}

type Found = editing.FoundPage["data"][number];

function describe({ transcription: { id, source }, tags, hits, has_more_hits }: Found): string {
  const name = source.name ?? source.url ?? "-";
  const lines = hits.map(({ start, text }) => `  ${clockTime(start)}  ${printable(text)}`);
  const head = [id, printable(name), ...tags.map((tag) => `#${printable(tag)}`)].join("  ");
  return [head, ...lines, ...(has_more_hits ? ["  …"] : [])].join("\n");
}
