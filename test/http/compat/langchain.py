"""Transcribes recordings with langchain's parser, and writes the documents of each call as JSON."""

import contextlib
import json
import sys

from langchain_community.document_loaders.parsers.audio import OpenAIWhisperParser
from langchain_core.documents.base import Blob

question = json.load(sys.stdin)


def parse(**options):
    """Returns the text and the metadata of the documents that the parser makes of a recording."""
    parser = OpenAIWhisperParser(api_key=question["key"], base_url=question["base_url"], **options)
    # The parser prints its progress, which would stand before the answer.
    with contextlib.redirect_stdout(sys.stderr):
        documents = list(parser.lazy_parse(Blob.from_path(question["file"])))
    return [{"text": each.page_content, **each.metadata} for each in documents]


json.dump(
    {
        "plain": parse(),
        "hints": parse(language="de", prompt="Grünwald", temperature=0.0),
        "srt": parse(response_format="srt"),
        "verbose": parse(response_format="verbose_json"),
    },
    sys.stdout,
)
