"""Reads exported files with Python's own modules, and with packages.

The question is {"directory": the folder with the files `export.FORMAT`, "packages": whether the packages of
constraints.txt can be imported}. The answer has, by the name of each reader, the entries that it found.
"""

import csv
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from datetime import datetime
from pathlib import Path


def entry(start, end, speaker, text):
    """An entry of the answer; times in milliseconds, None for what the format does not have."""
    return {"start": start, "end": end, "speaker": speaker, "text": text}


def milliseconds(seconds):
    return round(float(seconds) * 1000)


def read_json(path):
    document = json.loads(path.read_bytes())
    return [
        {**entry(milliseconds(s["start"]), milliseconds(s["end"]), s["speaker"], s["text"]), "words": s["words"]}
        for s in document["segments"]
    ]


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    return [entry(milliseconds(r["start"]), milliseconds(r["end"]), r["speaker"], r["text"]) for r in rows]


def read_tsv(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "start\tend\ttext" and lines[-1] == "", "Whisper's header, and an end of line after each row"
    rows = [line.split("\t") for line in lines[1:-1]]
    return [entry(int(start), int(end), None, text) for start, end, text in rows]


def read_lrc(path):
    found = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        tag = re.fullmatch(r"((?:\[\d+:\d\d\.\d\d\])+)(.*)", line)
        for minutes, seconds in re.findall(r"\[(\d+):([\d.]+)\]", tag[1]) if tag else []:
            found.append(entry(int(minutes) * 60_000 + milliseconds(seconds), None, None, tag[2]))
    return found


def read_rttm(path):
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, _file, channel, start, duration, ortho, subtype, name, confidence, lookahead = line.split()
        assert [kind, channel] == ["SPEAKER", "1"]
        assert {ortho, subtype, confidence, lookahead} == {"<NA>"}
        found.append(entry(milliseconds(start), milliseconds(start) + milliseconds(duration), name, None))
    return found


def read_textgrid(path):
    """Reads a TextGrid as Praat does: only strings, flags and numbers between blanks count, all else is a comment."""
    tokens = []
    for string, flag, word in re.findall(r'"((?:[^"]|"")*)"|<(\w+)>|(\S+)', path.read_text(encoding="utf-8")):
        if flag:
            tokens.append(flag)
        elif not word:
            tokens.append(string.replace('""', '"'))
        elif re.fullmatch(r"[-+]?\d+(\.\d+)?", word):
            tokens.append(float(word))
    tokens.reverse()
    assert [tokens.pop(), tokens.pop()] == ["ooTextFile", "TextGrid"]
    begin, end = tokens.pop(), tokens.pop()
    assert begin == 0 < end and tokens.pop() == "exists"
    found, names = [], set()
    for _tier in range(int(tokens.pop())):
        assert tokens.pop() == "IntervalTier"
        name = tokens.pop()
        assert name not in names and [tokens.pop(), tokens.pop()] == [begin, end]
        names.add(name)
        reached = begin
        for _interval in range(int(tokens.pop())):
            start, stop, text = tokens.pop(), tokens.pop(), tokens.pop()
            assert start == reached < stop, "the intervals of a tier join"
            reached = stop
            if text != "":
                found.append(entry(milliseconds(start), milliseconds(stop), name, text))
        assert reached == end, "the intervals of a tier reach its end"
    assert tokens == []
    return found


# The children of each element in the order of EAFv3.0.xsd, as far as exports have them, and the required attributes.
EAF_CHILDREN = {
    "ANNOTATION_DOCUMENT": ["LICENSE", "HEADER", "TIME_ORDER", "TIER", "LINGUISTIC_TYPE", "LOCALE", "LANGUAGE"],
    "HEADER": ["MEDIA_DESCRIPTOR", "LINKED_FILE_DESCRIPTOR", "PROPERTY"],
    "TIME_ORDER": ["TIME_SLOT"],
    "TIER": ["ANNOTATION"],
    "ANNOTATION": ["ALIGNABLE_ANNOTATION"],
    "ALIGNABLE_ANNOTATION": ["ANNOTATION_VALUE"],
}
EAF_ATTRIBUTES = {
    "ANNOTATION_DOCUMENT": ({"AUTHOR", "DATE", "VERSION"}, {"FORMAT"}),
    "HEADER": (set(), {"MEDIA_FILE", "TIME_UNITS"}),
    "PROPERTY": (set(), {"NAME"}),
    "TIME_SLOT": ({"TIME_SLOT_ID"}, {"TIME_VALUE"}),
    "TIER": ({"TIER_ID", "LINGUISTIC_TYPE_REF"}, {"PARTICIPANT", "LANG_REF"}),
    "ALIGNABLE_ANNOTATION": ({"ANNOTATION_ID", "TIME_SLOT_REF1", "TIME_SLOT_REF2"}, set()),
    "LINGUISTIC_TYPE": ({"LINGUISTIC_TYPE_ID"}, {"TIME_ALIGNABLE", "GRAPHIC_REFERENCES"}),
    "LANGUAGE": ({"LANG_ID"}, {"LANG_LABEL"}),
}


def check_eaf(element):
    order = EAF_CHILDREN.get(element.tag, [])
    positions = [order.index(child.tag) for child in element]
    assert positions == sorted(positions), f"{element.tag} has its children in order"
    required, optional = EAF_ATTRIBUTES.get(element.tag, (set(), set()))
    names = {name for name in element.attrib if not name.startswith("{")}
    assert required <= names <= required | optional, f"{element.tag} has the attributes {names}"
    for child in element:
        check_eaf(child)


def read_eaf(path):
    """Reads an EAF file and checks the rules of its schema: order, attributes, identities and references."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "ANNOTATION_DOCUMENT" and root.get("FORMAT") == "3.0"
    check_eaf(root)
    datetime.fromisoformat(root.attrib["DATE"].replace("Z", "+00:00"))
    slots = {slot.attrib["TIME_SLOT_ID"]: int(slot.attrib["TIME_VALUE"]) for slot in root.iter("TIME_SLOT")}
    assert list(slots.values()) == sorted(slots.values()), "time slots are in order"
    annotations = list(root.iter("ALIGNABLE_ANNOTATION"))
    ids = [*(slot.attrib["TIME_SLOT_ID"] for slot in root.iter("TIME_SLOT")), *(a.attrib["ANNOTATION_ID"] for a in annotations)]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[A-Za-z_][\w.-]*", each) for each in ids), "ids are unique"
    used = [a.attrib[name] for a in annotations for name in ("TIME_SLOT_REF1", "TIME_SLOT_REF2")]
    assert sorted(used) == sorted(slots), "every annotation has time slots of its own"
    tiers = [tier.attrib["TIER_ID"] for tier in root.iter("TIER")]
    assert len(set(tiers)) == len(tiers), "tiers have different names"
    types = {each.attrib["LINGUISTIC_TYPE_ID"] for each in root.iter("LINGUISTIC_TYPE")}
    languages = {each.attrib["LANG_ID"] for each in root.iter("LANGUAGE")}
    found = []
    for tier in root.iter("TIER"):
        assert tier.attrib["LINGUISTIC_TYPE_REF"] in types
        assert tier.get("LANG_REF") is None or tier.get("LANG_REF") in languages
        reached = 0
        for annotation in tier.iter("ALIGNABLE_ANNOTATION"):
            start = slots[annotation.attrib["TIME_SLOT_REF1"]]
            end = slots[annotation.attrib["TIME_SLOT_REF2"]]
            assert reached <= start < end, "annotations of a tier do not overlap"
            reached = end
            found.append(entry(start, end, tier.attrib["TIER_ID"], annotation[0].text))
    return found


def read_docx_with_python_docx(path):
    from docx import Document

    return [entry(None, None, p.style.name, p.text) for p in Document(str(path)).paragraphs]


READERS = {
    "json": ("json", read_json),
    "csv": ("csv", read_csv),
    "tsv": ("tsv", read_tsv),
    "lrc": ("lrc", read_lrc),
    "rttm": ("rttm", read_rttm),
    "eaf": ("eaf", read_eaf),
    "textgrid": ("textgrid", read_textgrid),
}
PACKAGE_READERS = {"docx with python-docx": ("docx", read_docx_with_python_docx)}


def main():
    question = json.load(sys.stdin)
    directory = Path(question["directory"])
    readers = {**READERS, **(PACKAGE_READERS if question["packages"] else {})}
    json.dump({name: read(directory / f"export.{format}") for name, (format, read) in readers.items()}, sys.stdout)


main()
