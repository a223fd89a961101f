"""Writes the segmentation model of this product: main.py PUBLISHED-MODEL OUTPUT"""

import sys
from pathlib import Path

from network import segmentation

published, output = map(Path, sys.argv[1:])
output.write_bytes(segmentation(published).SerializeToString(deterministic=True))
