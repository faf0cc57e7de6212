#!/usr/bin/env python3
"""Checks a proof of Tollgate without the service or its log. The program needs only Python 3.9 or newer.

    python3 verify.py PROOF --key KEYS [--seal SEAL]

KEYS are the public keys of the seals: PEM, a JSON Web Key, or a set of them. SEAL is the name of a seal that you kept.
The exit code is 0 if the proof is right, 1 if it is wrong, and 2 if the check failed. The section "Proofs" of
docs/ledger-format.md describes the format.
"""
import argparse
import base64
import hashlib
import json
import re
import sys
from decimal import Decimal


class Wrong(Exception):
    """The proof does not prove what it claims."""


def hold(condition, what):
    if not condition:
        raise Wrong(what)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# ---- Shapes ----

HASH = "[0-9a-f]{64}"


def is_text(value):
    """A surrogate without its pair is no text, because UTF-8 cannot encode it."""
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def is_dict(value):
    return isinstance(value, dict)


def is_like(pattern):
    return lambda value: is_text(value) and re.fullmatch(pattern, value) is not None


def is_like_or_absent(pattern, members, name):
    return name not in members or is_like(pattern)(members[name])


def is_below(limit):
    return lambda value: type(value) is int and 0 <= value < limit


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


is_hash, is_amount = is_like(HASH), is_below(2**53)


def fits(value, shape):
    """Whether a value has a shape: a check, a list of a shape, or the members of an object, optional with a `_`."""
    if callable(shape):
        return shape(value)
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(each, shape[0]) for each in value)
    needed = {name for name in shape if not name.endswith("_")}
    shapes = {name.rstrip("_"): each for name, each in shape.items()}
    return (is_dict(value) and needed <= value.keys() <= shapes.keys()
            and all(fits(each, shapes[name]) for name, each in value.items()))


# ---- Ed25519, after RFC 8032, section 5.1. The code is clear rather than fast. ----

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def point_add(one, other):
    """Adds points in extended coordinates (X, Y, Z, T)."""
    a, b = (one[1] - one[0]) * (other[1] - other[0]) % P, (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(scalar, point):
    result = (0, 1, 1, 0)
    for bit in bin(scalar)[2:]:
        result = point_add(result, result)
        result = point_add(result, point) if bit == "1" else result
    return result


def point_decode(encoded):
    """Decodes 32 bytes to a point; None if they encode no point."""
    y, sign = int.from_bytes(encoded, "little") % 2**255, encoded[31] >> 7
    x2 = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(x2, (P + 3) // 8, P)
    x = x if x * x % P == x2 else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != x2 or (x == 0 and sign == 1):
        return None
    x = x if x & 1 == sign else P - x
    return (x, y, 1, x * y % P)


def point_encode(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = point_decode((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
NOTHING = point_encode((0, 1, 1, 0))


def ed25519_verify(key, message, signature):
    """Whether a signature is right. Keys of small order are refused, because anyone can forge their signatures."""
    if len(key) != 32 or len(signature) != 64:
        return False
    point, s = point_decode(key), int.from_bytes(signature[32:], "little")
    if point is None or s >= ORDER or point_encode(point_mul(8, point)) == NOTHING:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    negative = (P - point[0], point[1], 1, P - point[3])
    return point_encode(point_add(point_mul(s, BASE), point_mul(h, negative))) == signature[:32]


# ---- Keys ----

def to_base64url(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def from_base64url(text):
    """Decodes a text; empty if the text is not the canonical form of its bytes."""
    try:
        found = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
    return found if to_base64url(found) == text else b""


def parse_keys(text):
    """The bytes of each Ed25519 public key, by its thumbprint (RFC 7638)."""
    if "-----BEGIN" in text:
        pem = re.findall(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----", text)
        ders = [base64.b64decode(content) for content in pem]
        found = [der[12:] for der in ders if der[:12].hex() == "302a300506032b6570032100"]
    else:
        document = json.loads(text)
        jwks = document["keys"] if "keys" in document else [document]
        found = [from_base64url(str(jwk.get("x"))) for jwk in jwks
                 if (jwk.get("kty"), jwk.get("crv")) == ("OKP", "Ed25519")]
    jwk = '{"crv":"Ed25519","kty":"OKP","x":"%s"}'
    return {to_base64url(sha256((jwk % to_base64url(key)).encode())): key for key in found if len(key) == 32}


# ---- Trees. Entries and branches are hashed as in RFC 9162. ----

def climb(at, last, path, later, earlier=None):
    """Follows a path up a tree whose last entry is `last` (RFC 9162, sections 2.1.3.2 and 2.1.4.2): both roots."""
    for step in map(bytes.fromhex, path):
        if last == 0:
            return None
        if at % 2 == 1 or at == last:
            earlier, later = earlier and sha256(b"\1", step, earlier), sha256(b"\1", step, later)
            while at % 2 == 0 and at != 0:
                at, last = at >> 1, last >> 1
        else:
            later = sha256(b"\1", later, step)
        at, last = at >> 1, last >> 1
    return (earlier, later) if last == 0 else None


def is_included(link, index, size, path, root):
    """Whether a path leads from a link to the root over `size` links."""
    return index < size and climb(index, size - 1, path, sha256(b"\0", link)) == (None, bytes.fromhex(root))


def is_extension(size, root, later_size, later_root, path):
    """Whether a path shows that a tree extends an earlier, smaller one."""
    at, last = size - 1, later_size - 1
    while at % 2 == 1:
        at, last = at >> 1, last >> 1
    first, *steps = [root, *path] if at == 0 else path or [""]
    first = bytes.fromhex(first)
    return climb(at, last, steps, first, first) == (bytes.fromhex(root), bytes.fromhex(later_root))


class Links:
    """The tree over links, as the roots of its complete subtrees with their sizes."""

    def __init__(self, size, roots):
        sizes = [2**bit for bit in reversed(range(size.bit_length())) if size >> bit & 1]
        hold(len(sizes) == len(roots), "the statement begins at the wrong event")
        self.size, self.parts = size, list(zip(sizes, map(bytes.fromhex, roots)))

    def add(self, link):
        size, root = 1, sha256(b"\0", link)
        while self.parts and self.parts[-1][0] == size:
            size, root = 2 * size, sha256(b"\1", self.parts.pop()[1], root)
        self.parts.append((size, root))
        self.size += 1

    def are_those_of(self, leaf, head):
        root = self.parts[-1][1]
        for _, left in reversed(self.parts[:-1]):
            root = sha256(b"\1", left, root)
        return (self.size - 1, root.hex(), head) == (leaf["revision"], leaf["links"], leaf["head"])


def check_leaf(leaf, seal):
    """Checks the path of a stream in the tree over all streams. A branch covers its bit and all bits above it."""
    members = {name: leaf[name] for name in ("head", "links", "revision", "stream")}
    found = sha256(b"\0", canonical(members).encode())
    key, above, fits = int.from_bytes(sha256(leaf["stream"].encode()), "big"), 256, True
    for step in leaf["path"]:
        bit, sibling = step["bit"], bytes.fromhex(step["sibling"])
        fits, above = fits and bit < above, bit
        prefix = (key >> (256 - bit) << (256 - bit)).to_bytes(32, "big")
        pair = (sibling, found) if key >> (255 - bit) & 1 else (found, sibling)
        found = sha256(b"\1", bytes([bit]), prefix, *pair)
    what = "seal %d does not cover %s as its leaf says" % (seal["number"], leaf["stream"])
    hold(fits and found.hex() == seal["root"], what)


# ---- Events and seals ----

COUNT = "(?:0|[1-9][0-9]{0,15})"
LINK_TEXT = re.compile(
    r'\{"data":"(%s)","format":([234]),"id":"[0-9a-f-]{36}","metadata":"(%s)",' % (HASH, HASH)
    + r'"revision":([0-9]+),"stream":"([a-z0-9_-]+)","type":"([A-Za-z]+)"\}')
TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"
SEAL = {"at": TIME, "earlier": HASH, "events": COUNT, "keyId": "[A-Za-z0-9_-]{43}", "number": COUNT, "position": COUNT,
        "previous": HASH, "root": HASH, "signature": "[A-Za-z0-9_-]{86}", "streams": COUNT}
SEAL_TEXT = re.compile(r"\{%s\}" % ",".join(
    ('"%s":(?P<%s>%s)' if form == COUNT else '"%s":"(?P<%s>%s)"') % (name, name, form) for name, form in SEAL.items()))


def number_text(number):
    """Formats a number like JavaScript."""
    text = repr(float(number))
    if "e" in text and 1e-6 <= abs(number) < 1e21:
        text = format(Decimal(text), "f")
    return re.sub(r"[.]0$|(?<=e[+-])0", "", text)


MAX_DEPTH = 100


def canonical(value, levels=MAX_DEPTH):
    """The canonical form of a JSON value (RFC 8785). Raises ValueError if the value is nested too deeply."""
    if isinstance(value, (dict, list)) and levels == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{%s}" % ",".join("%s:%s" % (canonical(name), canonical(value[name], levels - 1)) for name in names)
    if isinstance(value, list):
        return "[%s]" % ",".join(canonical(each, levels - 1) for each in value)
    if is_number(value):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_data(text, revision):
    """Parses the object in a text, which must be canonical, because other texts can be ambiguous."""
    try:
        data = json.loads(text, parse_float=Decimal)
        is_canonical = isinstance(data, dict) and canonical(data) == text
    except (ValueError, ArithmeticError, RecursionError):
        is_canonical = False
    hold(is_canonical, "event %d is not in the documented form" % revision)
    return data


def link_of(previous, texts):
    return sha256(previous.encode(), texts["linkText"].encode())


# The only event type whose data a proof may omit: a cost at a provider, which moves no credits.
WITHHELD = "ProviderCostRecorded"

FORMAT_1 = {"type": is_like("[A-Za-z]+"), "data": is_dict, "metadata": is_dict}


def read_event(texts, stream, revision):
    """The format, type and data of an event whose link was proved, from the texts of the link."""
    if "dataText" not in texts and "metadataText" not in texts:
        parts = read_data(texts["linkText"], revision)
        what = "event %d is not in the documented form" % revision
        hold(fits(parts, FORMAT_1) and "format" not in parts["metadata"], what)
        return 1, parts["type"], parts["data"]
    found = LINK_TEXT.fullmatch(texts["linkText"])
    withheld = found is not None and found[6] == WITHHELD and "dataText" not in texts
    data, metadata = (sha256(texts.get(name, "").encode()).hex() for name in ("dataText", "metadataText"))
    expected = (metadata, str(revision), stream)
    whole = found and (withheld or found[1] == data) and found.groups()[2:5] == expected
    hold(whole, "the texts of event %d of %s do not belong together" % (revision, stream))
    return int(found[2]), found[6], {} if withheld else read_data(texts["dataText"], revision)


def check_event(proven, leaf):
    """Like read_event, for an event that a path proves."""
    revision, link = proven["revision"], link_of(proven["previous"], proven)
    included = is_included(link, revision, leaf["revision"] + 1, proven["path"], leaf["links"])
    hold(included, "event %d is not in the tree of %s" % (revision, leaf["stream"]))
    return read_event(proven, leaf["stream"], revision)


def check_seal(proven, keys):
    found = SEAL_TEXT.fullmatch(proven["dataText"])
    hold(found and int(found["number"]) < 2**31, "a seal is not in the documented form")
    signed = proven["dataText"].replace('"signature":"%s",' % found["signature"], "", 1).encode()
    # No signature covers the link of a seal, so its name is the digest of what the signature covers.
    name = "%s:sha256-%s" % (found["number"], sha256(signed).hex())
    seal = {**found.groupdict(), "number": int(found["number"]), "name": name, "link": proven["link"]}
    number, key = seal["number"], keys.get(seal["keyId"])
    what = "the link of seal %d is not that of its texts" % number
    hold(link_of(proven["previous"], proven).hex() == proven["link"], what)
    is_seal = read_event(proven, "seals", number)[1] == "LogSealed" and seal["previous"] == proven["previous"]
    hold(is_seal, "seal %d is not in the documented form" % number)
    hold(key, "seal %d is signed with the key %s, which was not given" % (number, seal["keyId"]))
    good = ed25519_verify(key, signed, from_base64url(seal["signature"]))
    hold(good, "the signature of seal %d is wrong" % number)
    return seal


# ---- Prices: docs/ledger-format.md, "Recomputing a price" ----

# The fields of each kind of line that follow from the price list.
LINES = {"base": ["amountMicros"], "quantity": ["parameter", "value"],
         "multiplier": ["parameter", "value", "factorMicros"], "surcharge": ["parameter", "equals", "usdMicros"],
         "tokens": ["tokens", "count", "perMillionMicros"]}


def whole(value):
    if not is_amount(value):
        raise ValueError("no whole number")
    return value


def millionths(value):
    if not is_number(value):
        raise ValueError("no number")
    return int(value * 1000000 + Decimal("0.5"))


def divided_up(dividend, divisor):
    return -(-dividend // divisor)


def total_of(lines):
    """The sum of a price. Base times factors and the tokens are rounded up together, before the surcharges."""
    product, divisor, tokens, added = 0, 1, 0, 0
    for line in lines:
        if line["kind"] == "base":
            product = whole(line["amountMicros"])
        elif line["kind"] == "tokens":
            tokens += whole(line["count"]) * whole(line["perMillionMicros"])
        elif line["kind"] == "surcharge":
            added += whole(line["amountMicros"])
        else:
            product *= millionths(line["value"]) if line["kind"] == "quantity" else whole(line["factorMicros"])
            divisor *= 1000000
    return divided_up(product * 1000000 + tokens * divisor, divisor * 1000000) + added


def adds_up(receipt):
    """Whether the total of a receipt follows from its lines. Only the first is the base price; tokens need none."""
    kinds = [line["kind"] for line in receipt["lines"]]
    if not (kinds[0] == "base" or "tokens" in kinds) or "base" in kinds[1:]:
        return False
    for line in receipt["lines"]:
        if line["kind"] == "surcharge":
            # In format 1, the rate is in the lines.
            rate = whole(receipt.get("usdPerCreditMicros", line.get("usdPerCreditMicros")))
            if divided_up(whole(line["usdMicros"]) * 1000000, rate) != whole(line["amountMicros"]):
                return False
    return total_of(receipt["lines"]) == whole(receipt["totalMicros"])


def as_text(value):
    return value if is_text(value) else canonical(value)


def listed_lines(rule, given, input_tokens):
    """The lines of the price list for the input of a run, which has at most so many tokens."""
    if rule["baseMicros"] != 0:
        yield ["base", rule["baseMicros"]]
    for name in rule["quantities"]:
        if is_number(given.get(name)):
            yield ["quantity", name, given[name]]
    for name, factors in rule["multipliers"].items():
        if name in given:
            yield ["multiplier", name, as_text(given[name]), factors.get(as_text(given[name]))]
    rates = rule.get("tokens", {})
    for kind, rate in rates.items():
        longest = "thinking" if rates["thinking"] > rates["output"] else "output"
        most = {"input": input_tokens, longest: given.get("max_output_tokens")}
        yield ["tokens", kind, most.get(kind, 0), rate]
    for surcharge in rule["surcharges"]:
        name, equals = surcharge["when"]["parameter"], surcharge["when"]["equals"]
        if name in given and canonical(given[name]) == canonical(equals):
            yield ["surcharge", name, equals, surcharge["usdMicros"]]


def input_tokens(lines):
    """The input tokens that a debit counts. The service chooses the number: what a run did not use is released."""
    return next((line["count"] for line in lines if line.get("tokens") == "input"), 0)


def input_of(queued, lines):
    """The input of a run, as far as prices need it. If it is encrypted, the values that the receipt names count."""
    if "personal" not in queued:
        return queued["input"]
    most = [line["count"] for line in lines if line.get("tokens", "input") != "input" and line["count"] > 0]
    given = {"max_output_tokens": most[0]} if most else {}
    # A multiplier has a value only as text, so the value of another line comes first.
    for line in sorted(lines, key=lambda line: line["kind"] != "multiplier"):
        if "parameter" in line:
            given[line["parameter"]] = line.get("value", line.get("equals"))
    return given


def check_price(revision, receipt, queued, catalog):
    """Checks a receipt against the run after it, and against the price list that the receipt names."""
    model, endpoint, given = receipt["model"], receipt["endpoint"], input_of(queued, receipt["lines"])
    same = is_text(endpoint) and (model, endpoint) == (queued["model"], queued["endpoint"])
    hold(same, "event %d runs another model than the receipt before it" % revision)
    family = catalog.get(whole(receipt["catalogRevision"]), {"id": None})
    rules = [each["pricing"] for each in family["endpoints"] if each["id"] == endpoint] if family["id"] == model else []
    hold(rules, "event %d: its receipt names no price of the catalog" % (revision - 1))
    # In format 1, a surcharge has no "equals": the value is that of the input.
    lines = [{"equals": given.get(str(line.get("parameter"))), **line} for line in receipt["lines"]]
    found = [canonical([line["kind"]] + [line[name] for name in LINES[line["kind"]]]) for line in lines]
    listed = list(map(canonical, listed_lines(rules[0], given, input_tokens(lines))))
    hold(sorted(found) == sorted(listed), "event %d: its receipt is not what the price list gives" % (revision - 1))


def without_counts(receipt):
    """A receipt without the counts of tokens, and what follows from them, as a text."""
    lines = [{name: line[name] for name in line if name != "count"} for line in receipt["lines"]]
    others = {name: receipt[name] for name in receipt if name not in ("totalMicros", "counted")}
    return canonical({**others, "lines": lines})


def check_release(revision, released, reserve):
    """Checks what is released of a debit because its tokens cost less. The receipt of the debit may be missing."""
    receipt = released["receipt"]
    hold(adds_up(receipt), "event %d: its receipt does not add up" % revision)
    if reserve:
        same = without_counts(receipt) == without_counts(reserve)
        hold(same, "event %d: its receipt has other lines or rates than that of its debit" % revision)
        rest = released["amountMicros"] == reserve["totalMicros"] - receipt["totalMicros"]
        hold(rest, "event %d releases another amount than its receipt leaves of the debit" % revision)


def check_usage(revision, usage, released, reserve):
    """Checks the price of a completed run against its tokens. Without a release, it needed all of its debit."""
    receipt = released["receipt"] if released else reserve
    if receipt is None:
        return
    hold(is_dict(usage), "event %d does not tell the tokens of its run" % revision)
    lines = [{**line, "count": usage.get(line["tokens"])} if line["kind"] == "tokens" else line
             for line in receipt["lines"]]
    if released:
        paid = canonical(lines) == canonical(receipt["lines"])
        paid = paid and receipt.get("counted", False) is usage.get("counted", False)
    else:
        paid = total_of(lines) >= whole(receipt["totalMicros"])
    hold(paid, "event %d used other tokens than its run has paid for" % revision)


# ---- The three kinds of proofs ----

MOVES = {"CreditsGranted": (1, "granted"), "CreditsWithdrawn": (-1, "withdrawn"),
         "CreditsDebited": (-1, "debited"), "CreditsRefunded": (1, "refunded"),
         "CreditsReleased": (1, "released"), "CreditsExpired": (-1, "expired")}


def as_credits(micros):
    return ("%d.%06d" % divmod(micros, 1000000)).rstrip("0").rstrip(".")


def move_of(revision, kind, data):
    """The change of the balance, the balance after the event, and both as text. None if the event moved no credits."""
    if kind not in MOVES:
        return None
    (sign, verb), amount, after = MOVES[kind], data.get("amountMicros"), data.get("balanceAfterMicros")
    debit = data.get("debit", data.get("receipt"))
    debit = debit if is_dict(debit) else {}
    told = is_amount(amount) and is_amount(after) and is_like_or_absent("run_[0-9a-z]{26}", data, "runId")
    named = told and is_like_or_absent("[a-z0-9-]{1,64}", debit, "model")
    hold(named, "event %d is not in the documented form" % revision)
    names = (" for " + data["runId"] if "runId" in data else "") + (" of " + debit["model"] if "model" in debit else "")
    return sign * amount, after, "%s %s%s, %s after" % (as_credits(amount), verb, names, as_credits(after))


def check_inclusion(proof, keys):
    seal = check_seal(proof["seal"], keys)
    check_leaf(proof["leaf"], seal)
    revision, (_, kind, data) = proof["event"]["revision"], check_event(proof["event"], proof["leaf"])
    move = move_of(revision, kind, data)
    lines = ["right: %s, event %d of %s, is sealed" % (kind, revision, proof["leaf"]["stream"])]
    return [seal], lines + (["credits: " + move[2]] if move else [])


def check_consistency(proof, keys):
    earlier, later = check_seal(proof["earlier"], keys), check_seal(proof["later"], keys)
    first, last = earlier["number"], later["number"]
    hold(first < last and int(earlier["events"]) <= int(later["events"]), "the seals are in the wrong order")
    covered = is_included(bytes.fromhex(earlier["link"]), first, last, proof["inclusion"], later["earlier"])
    hold(covered, "seal %d does not cover seal %d" % (last, first))
    extends = is_extension(first, earlier["earlier"], last, later["earlier"], proof["consistency"])
    hold(extends, "seal %d does not extend what came before seal %d" % (last, first))
    return [earlier, later], ["right: seal %d extends seal %d" % (last, first)]


def check_statement(proof, keys):
    ends = [proof[name] for name in ("from", "to") if name in proof]
    seals = [check_seal(each["seal"], keys) for each in ends]
    hold(seals[0]["number"] < seals[-1]["number"] or len(seals) == 1, "the seals are in the wrong order")
    for each, seal in zip(ends, seals):
        check_leaf(each["leaf"], seal)
    stream, last = ends[-1]["leaf"]["stream"], ends[-1]["leaf"]["revision"]
    one = stream.startswith("account-") and ends[0]["leaf"]["stream"] == stream
    hold(one, "the statement is not about one account")
    before = ends[0]["leaf"]["revision"] if len(ends) == 2 else -1
    check_links(proof, before)
    catalog = read_catalog(proof["catalog"], seals[-1]) if "catalog" in proof else {}
    opening, closing, moves, prices = check_events(proof, before, catalog)
    where = "between the seals" if len(seals) == 2 else "up to the seal"
    return seals, [
        "right: %s has %d events %s, all here" % (stream[len("account-"):], last - before, where), *moves,
        "balance: %s credits before, %s credits after" % (as_credits(opening), as_credits(closing)),
        "prices: %d recomputed" % prices]


def check_links(proof, before):
    """Follows the links and the tree over them, which proves that no event is missing."""
    first, link = proof["start"]["revision"], proof["start"]["previous"]
    hold(first == 0 or first <= before, "the statement begins at the wrong event")
    links = Links(first, proof["start"]["tree"])
    for revision, texts in enumerate(proof["events"], first):
        link = link_of(link, texts).hex()
        links.add(bytes.fromhex(link))
        if revision == before:
            covered = links.are_those_of(proof["from"]["leaf"], link)
            hold(covered, "the events are not those that the earlier seal covers")
    hold(links.are_those_of(proof["to"]["leaf"], link), "the events are not those that the seal covers")


def read_catalog(proven, seal):
    """The families of models with their prices, by the revision of the catalog."""
    check_leaf(proven["leaf"], seal)
    hold(proven["leaf"]["stream"] == "catalog", "the prices are not those of the catalog")
    events = [(each["revision"], check_event(each, proven["leaf"])[2]) for each in proven["events"]]
    return {revision: data["family"] for revision, data in events if data.get("family")}


def check_events(proof, before, catalog):
    """Follows the balance from event to event, and recomputes each price."""
    stream, start = proof["to"]["leaf"]["stream"], proof["start"]
    level, debit, released, moves, prices, opening = 1, None, None, [], 0, 0
    # The receipts of debits for tokens, by run.
    reserves = {}
    balance = 0 if start["revision"] == 0 else None
    for revision, texts in enumerate(proof["events"], start["revision"]):
        form, kind, data = read_event(texts, stream, revision)
        hold(form >= level, "the format of event %d is lower than that of the event before it" % revision)
        level = form
        if revision == 0:
            genesis = "0" * 64 if form == 1 else sha256(b'{"format":%d,"stream":"%s"}' % (form, stream.encode())).hex()
            first = kind == "AccountOpened" and start["previous"] == genesis
            hold(first, "the statement begins at the wrong event")
            hold(data.get("accountId") == stream[len("account-"):], "the first event opens another account")
        move = move_of(revision, kind, data)
        if move:
            sums = "%s %s %d" % (balance, "-" if move[0] < 0 else "+", abs(move[0]))
            what = "the balance after event %d is %d, and %s is not" % (revision, move[1], sums)
            hold(balance is None or balance + move[0] == move[1], what)
            balance = move[1]
            moves += ["event %d: %s" % (revision, move[2])] if revision > before else []
        hold(balance is not None, "the statement begins at the wrong event")
        if debit:
            follows = kind in ("RunQueued", "RunStarted") and data.get("runId") == debit["runId"]
            hold(follows, "event %d is not the run of the debit before it" % revision)
            check_price(revision, debit["receipt"], data, catalog)
            prices += 1
        if released:
            ends = kind == "RunCompleted" and data.get("runId") == released["runId"]
            hold(ends, "event %d is not the end of the run of the release before it" % revision)
        if kind == "RunCompleted":
            check_usage(revision, data.get("usage"), released, reserves.get(data["runId"]))
        released = data if kind == "CreditsReleased" else None
        if released:
            check_release(revision, released, reserves.get(data["runId"]))
            prices += 1
        debit = data if kind == "CreditsDebited" else None
        if debit:
            same = whole(debit["receipt"]["totalMicros"]) == debit["amountMicros"]
            hold(same, "event %d debits another amount than its receipt" % revision)
            hold(adds_up(debit["receipt"]), "event %d: its receipt does not add up" % revision)
            if any(line["kind"] == "tokens" for line in debit["receipt"]["lines"]):
                reserves[debit["runId"]] = debit["receipt"]
        opening = balance if revision == before else opening
    return opening, balance, moves, prices


# ---- The shape of the document ----

REVISION = is_below(2**31 - 1)
TEXTS = {"linkText": is_text, "dataText_": is_text, "metadataText_": is_text}
EVENT = {"revision": REVISION, "previous": is_hash, "path": [is_hash], **TEXTS}
LEAF = {"stream": is_like("[a-z]+(-[a-z0-9_]+)?"), "revision": REVISION, "head": is_hash, "links": is_hash,
        "path": [{"bit": is_below(256), "sibling": is_hash}]}
SEALED = {"previous": is_hash, "linkText": is_text, "dataText": is_text, "metadataText": is_text, "link": is_hash}
END = {"seal": SEALED, "leaf": LEAF}
START = {"revision": REVISION, "previous": is_hash, "tree": [is_hash]}
HEAD = {"format": is_like("tollgate-proof"), "version": lambda value: type(value) is int and value == 1, "kind": is_text}
KINDS = {
    "inclusion": (check_inclusion, {"event": EVENT, "leaf": LEAF, "seal": SEALED}),
    "consistency": (check_consistency, {
        "earlier": SEALED, "later": SEALED, "inclusion": [is_hash], "consistency": [is_hash]}),
    "statement": (check_statement, {
        "from_": END, "to": END, "start": START, "events": lambda value: fits(value, [TEXTS]) and len(value) > 0,
        "catalog_": {"leaf": LEAF, "events": [EVENT]}})}

OLD = "; no signature covers such an old name, so it may be forged"
CONSISTENCY = "; a proof of consistency from the earlier to the later one shows whether both are of one log"


def unique(members):
    """Refuses a repeated name, which would be ambiguous."""
    if len(dict(members)) < len(members):
        raise ValueError("a name comes twice")
    return dict(members)


def check(text, keys, kept=None):
    """Returns the facts that a proof shows, as lines. Raises Wrong if the proof is not valid."""
    what = "it is no tollgate-proof of version 1 in the documented form"
    try:
        proof = json.loads(text, object_pairs_hook=unique, parse_float=lambda text: int(number_text(text)))
        checker, members = KINDS[proof["kind"]]
        hold(fits(proof, {**HEAD, **members}), what)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Wrong(what) from None
    try:
        seals, lines = checker(proof, keys)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError):
        # The owner of the log may have put anything into an event, so reading it may fail anywhere.
        raise Wrong("an event is not in the documented form") from None
    lines = lines + ["seal %s of %s" % (seal["name"], seal["at"]) for seal in seals]
    if kept is None:
        return lines + ["To compare with a seal that you kept, pass its name as --seal."]
    is_old = ":sha256-" not in kept
    names = [seal["name"] for seal in seals if kept in (seal["name"], "%d:%s" % (seal["number"], seal["link"]))]
    if not names:
        known = any(kept.startswith("%d:" % seal["number"]) for seal in seals)
        what = "it is about seal %s, and not about seal %s, which was kept" % (seals[-1]["name"], kept)
        raise Wrong(what + (OLD if is_old else "") + ("" if known else CONSISTENCY))
    return lines + (["No signature covers the old name %s: keep %s instead." % (kept, names[0])] if is_old else [])


NO_KEY = '%s has no Ed25519 public key; "openssl pkey -in %s -pubout" prints that of a private one'


def main():
    parser = argparse.ArgumentParser(description="Checks a proof of Tollgate.")
    parser.add_argument("proof")
    parser.add_argument("--key", required=True, help="the public keys: PEM, a JSON Web Key, or a set of them")
    parser.add_argument("--seal", help="a seal that you kept, by its name")
    options = parser.parse_args()
    if options.seal is not None and not re.fullmatch("(0|[1-9][0-9]{0,14}):(sha256-)?" + HASH, options.seal):
        parser.error("--seal must be a seal such as 12:sha256-6cdf…, with 64 hexadecimal digits.")
    try:
        with open(options.key, encoding="utf-8") as file:
            keys = parse_keys(file.read())
        with open(options.proof, "rb") as file:
            text = file.read().decode("utf-8", "replace")
        if not keys:
            raise ValueError(NO_KEY % (options.key, options.key))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print("It cannot be checked: %s." % error, file=sys.stderr)
        return 2
    try:
        lines = check(text, keys, options.seal)
    except Wrong as wrong:
        print("wrong: " + re.sub("[^ -~]", "?", str(wrong)))
        return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
