"""Reads exported files with the packages of constraints.txt, which the users of these formats have."""

import logging
import xml.etree.ElementTree as ElementTree
from html import unescape

import parselmouth
import pypdfium2
import pysubs2
import webvtt
import yaml
from docx import Document
from lrcparser import LrcParser
from markdown_it import MarkdownIt
from parselmouth.praat import call
from praatio import textgrid
from pyannote.database.util import load_rttm
from pympi.Elan import Eaf
from reading import answer, entry, milliseconds
from ttconv.imsc.reader import to_model as read_imsc
from ttconv.model import Br, P, Text


def without_joiners(text):
    return text.replace("\u2060", "")


def read_with_pysubs2(path):
    lines = pysubs2.load(str(path), format_=path.suffix[1:])
    # pysubs2 reads WebVTT as SubRip, which has no entities. SubRip has invisible characters instead, see text-formats.ts.
    text = unescape if path.suffix == ".vtt" else without_joiners
    return [entry(line.start, line.end, None, text(line.text)) for line in lines]


def read_vtt(path):
    return [
        entry(c.start_time.in_milliseconds(), c.end_time.in_milliseconds(), unescape(c.voice), unescape(c.text))
        for c in webvtt.read(str(path), strict=True)
    ]


def read_lrc(path):
    lines = LrcParser.parse(path.read_text(encoding="utf-8"))["lrc_lines"]
    return [entry(milliseconds(line.start_time), None, None, without_joiners(str(line.text))) for line in lines]


def read_rttm(path):
    annotations = load_rttm(str(path))
    assert len(annotations) <= 1, "all lines are of one recording"
    return [
        entry(milliseconds(segment.start), milliseconds(segment.end), label, None)
        for annotation in annotations.values()
        for segment, _track, label in annotation.itertracks(yield_label=True)
    ]


def read_textgrid_with_praatio(path):
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=False, reportingMode="error")
    return [
        entry(milliseconds(start), milliseconds(end), tier.name, text)
        for tier in grid.tiers
        for start, end, text in tier.entries
    ]


def read_textgrid_with_praat(path):
    grid = parselmouth.Data.read(str(path))
    found = []
    for tier in range(1, call(grid, "Get number of tiers") + 1):
        assert call(grid, "Is interval tier", tier)
        for interval in range(1, call(grid, "Get number of intervals", tier) + 1):
            text = call(grid, "Get label of interval", tier, interval)
            start = call(grid, "Get start time of interval", tier, interval)
            end = call(grid, "Get end time of interval", tier, interval)
            if text != "":
                found.append(entry(milliseconds(start), milliseconds(end), call(grid, "Get tier name", tier), text))
    return found


def read_eaf(path):
    document = Eaf(str(path))
    return [
        entry(start, end, name, text)
        for name in document.get_tier_names()
        for start, end, text in document.get_annotation_data_for_tier(name)
    ]


def read_docx(path):
    paragraphs = Document(str(path)).paragraphs
    assert [p.style.name for p in paragraphs[:2]] == ["Heading 1", "Details"]
    return [entry(None, None, p.style.name, p.text) for p in paragraphs[1:] if p.style.name != "Details"]


def read_pdf(path):
    return [entry(None, None, None, page.get_textpage().get_text_range()) for page in pypdfium2.PdfDocument(path)]


class Complaints(logging.Handler):
    """Collects the messages of a reader that complains in its log."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        self.messages.append(record.getMessage())


def shown_in(paragraph):
    parts = (each for each in paragraph.dfs_iterator() if isinstance(each, (Br, Text)))
    return "".join("\n" if isinstance(each, Br) else each.get_text() for each in parts)


def read_ttml(path):
    complaints = Complaints()
    logging.getLogger("ttconv").addHandler(complaints)
    document = read_imsc(ElementTree.parse(path))
    logging.getLogger("ttconv").removeHandler(complaints)
    assert complaints.messages == [], f"the reader says {complaints.messages}"
    return [
        entry(milliseconds(each.get_begin() or 0), milliseconds(each.get_end()), None, shown_in(each))
        for each in document.get_body().dfs_iterator()
        if isinstance(each, P)
    ]


def read_markdown(path):
    _, front, text = path.read_text(encoding="utf-8").split("---\n", 2)
    facts = yaml.safe_load(front)
    assert {"title", "id", "date", "duration", "speakers"} <= set(facts)
    title, *blocks = [each for each in MarkdownIt("commonmark").parse(text) if each.type.endswith("_open")]
    assert title.tag == "h1" and {each.tag for each in blocks} <= {"p"}, "the texts have no markup"
    heading, *paragraphs = [each.children for each in MarkdownIt("commonmark").parse(text) if each.type == "inline"]
    assert [each.content for each in heading if each.content] == [facts["title"]]
    found = []
    for name, body in zip(paragraphs[::2], paragraphs[1::2], strict=True):
        marks = {each.type for each in name} | {each.type for each in body}
        assert marks == {"text", "strong_open", "strong_close"}, "the texts have no markup"
        found.append(entry(None, None, "".join(each.content for each in name), "".join(each.content for each in body)))
    return found


answer(
    {
        "srt with pysubs2": ("srt", read_with_pysubs2),
        "vtt with pysubs2": ("vtt", read_with_pysubs2),
        "vtt with webvtt-py": ("vtt", read_vtt),
        "lrc with lrcparser": ("lrc", read_lrc),
        "rttm with pyannote": ("rttm", read_rttm),
        "textgrid with praatio": ("textgrid", read_textgrid_with_praatio),
        "textgrid with Praat": ("textgrid", read_textgrid_with_praat),
        "eaf with pympi": ("eaf", read_eaf),
        "docx with python-docx": ("docx", read_docx),
        "ttml with ttconv": ("ttml", read_ttml),
        "md with markdown-it": ("md", read_markdown),
        "pdf with PDFium": ("pdf", read_pdf),
    }
)
