"""Searches texts for patterns as Python's jsonschema does."""

import json
import re
import sys

given = json.load(sys.stdin)
found = {
    pattern: [re.search(pattern, text) is not None for text in given["texts"]]
    for pattern in given["patterns"]
}
print(json.dumps(found))
