"""Reads exported files with Python's own modules, without any package."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from datetime import datetime

from reading import answer, entry, milliseconds


def read_json(path):
    document = json.loads(path.read_bytes())
    return [
        {**entry(milliseconds(s["start"]), milliseconds(s["end"]), s["speaker"], s["text"]), "words": s["words"]}
        for s in document["segments"]
    ]


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, strict=True)
    assert header == ["start", "end", "speaker", "text"]
    return [entry(milliseconds(start), milliseconds(end), speaker, text) for start, end, speaker, text in rows]


def read_tsv(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines[0] == "start\tend\ttext" and lines[-1] == "", "Whisper's header, and an end of line after each row"
    rows = [line.split("\t") for line in lines[1:-1]]
    return [entry(int(start), int(end), None, text) for start, end, text in rows]


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


EXB_CHILDREN = {
    "basic-transcription": ["head", "basic-body"],
    "head": ["meta-information", "speakertable"],
    "meta-information": [
        *["project-name", "transcription-name", "referenced-file", "ud-meta-information", "comment"],
        "transcription-convention",
    ],
    "speakertable": ["speaker"],
    "speaker": ["abbreviation", "sex", "languages-used", "l1", "l2", "ud-speaker-information", "comment"],
    "languages-used": ["language"],
    "basic-body": ["common-timeline", "tier"],
    "common-timeline": ["tli"],
    "tier": ["event"],
}


def check_exb(element):
    order = EXB_CHILDREN.get(element.tag, [])
    positions = [order.index(child.tag) for child in element]
    assert positions == sorted(positions), f"{element.tag} has its children in order"
    for child in element:
        check_exb(child)


def read_exb(path):
    """Reads an EXB file and checks the rules of EXMARaLDA's DTD: order, identities, references, and the timeline."""
    root = ElementTree.parse(path).getroot()
    assert root.tag == "basic-transcription"
    check_exb(root)
    speakers = {each.attrib["id"]: each.findtext("abbreviation") for each in root.iter("speaker")}
    points = {tli.attrib["id"]: milliseconds(tli.attrib["time"]) for tli in root.iter("tli")}
    assert list(points.values()) == sorted(set(points.values())), "the timeline is in order, without repetitions"
    ids = [each.attrib["id"] for tag in ("speaker", "tli", "tier") for each in root.iter(tag)]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[A-Za-z_][\w.-]*", each) for each in ids), "ids are unique"
    names = [tier.attrib["display-name"] for tier in root.iter("tier")]
    assert len(set(names)) == len(names), "tiers have different names"
    found = []
    for tier in root.iter("tier"):
        assert tier.attrib["speaker"] in speakers and (tier.attrib["category"], tier.attrib["type"]) == ("v", "t")
        reached = 0
        for event in tier:
            start, end = points[event.attrib["start"]], points[event.attrib["end"]]
            assert reached <= start < end, "events of a tier do not overlap"
            reached = end
            assert event.text.endswith(" "), "events are separated by a space"
            found.append(entry(start, end, tier.attrib["display-name"].removesuffix(" [v]"), event.text[:-1]))
    return found


def read_whisper(path):
    """Reads JSON as programs for Whisper's own do: the text, and segments with `words[].word`."""
    document = json.loads(path.read_bytes())
    assert set(document) == {"text", "segments", "language"}
    assert "".join(s["text"] for s in document["segments"]) == document["text"]
    assert [s["id"] for s in document["segments"]] == list(range(len(document["segments"])))
    for segment in document["segments"]:
        for word in segment["words"]:
            assert set(word) == {"word", "start", "end", "probability"} and isinstance(word["word"], str)
    return [entry(milliseconds(s["start"]), milliseconds(s["end"]), s["speaker"], s["text"][1:]) for s in document["segments"]]


def read_podcast(path):
    """Reads JSON by the rules of Podcasting 2.0: version, and segments with times and a body."""
    document = json.loads(path.read_bytes())
    assert document["version"] == "1.0.0"
    for segment in document["segments"]:
        assert set(segment) == {"speaker", "startTime", "endTime", "body"}
    return [
        entry(milliseconds(s["startTime"]), milliseconds(s["endTime"]), s["speaker"], s["body"])
        for s in document["segments"]
    ]


answer(
    {
        "json": ("json", read_json),
        "csv": ("csv", read_csv),
        "tsv": ("tsv", read_tsv),
        "eaf": ("eaf", read_eaf),
        "exb": ("exb", read_exb),
        "whisper": ("whisper", read_whisper),
        "podcast": ("podcast", read_podcast),
    }
)
