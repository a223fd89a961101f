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


answer({"json": ("json", read_json), "csv": ("csv", read_csv), "tsv": ("tsv", read_tsv), "eaf": ("eaf", read_eaf)})
