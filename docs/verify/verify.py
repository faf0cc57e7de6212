#!/usr/bin/env python3
"""Checks a proof of Tollgate without the service and its log. It needs Python 3.9 or newer, and nothing else.

    python3 verify.py PROOF --key KEYS [--seal NUMBER:LINK]

KEYS are the public keys of the seals: PEM, a JSON Web Key, or a set of them. The seal is one that you kept. The exit
code is 0 if the proof is right, 1 if it is wrong, and 2 if it could not be checked. The format is described in
docs/ledger-format.md, "Proofs".
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


# ---- Ed25519, after RFC 8032, section 5.1. Clear, and not fast. ----

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def point_add(one, other):
    """Adds points in extended coordinates (X, Y, Z, T)."""
    a, b = (one[1] - one[0]) * (other[1] - other[0]) % P, (one[1] + one[0]) * (other[1] + other[0]) % P
    c, d = 2 * one[3] * other[3] * D % P, 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(scalar, point):
    result = (0, 1, 1, 0)
    while scalar > 0:
        if scalar & 1:
            result = point_add(result, point)
        point = point_add(point, point)
        scalar >>= 1
    return result


def point_decode(encoded):
    """The point of 32 bytes, or None if there is none."""
    y, sign = int.from_bytes(encoded, "little") & (2**255 - 1), encoded[31] >> 7
    if y >= P:
        return None
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P != 0:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - x2) % P != 0 or (x == 0 and sign == 1):
        return None
    x = x if x & 1 == sign else P - x
    return (x, y, 1, x * y % P)


def point_encode(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = point_decode((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def ed25519_verify(key, message, signature):
    """Whether a signature is right. Keys of small order are refused, because anybody can sign for them."""
    if len(key) != 32 or len(signature) != 64:
        return False
    point, s = point_decode(key), int.from_bytes(signature[32:], "little")
    if point is None or s >= ORDER or point_encode(point_mul(8, point)) == point_encode((0, 1, 1, 0)):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    negative = (P - point[0], point[1], 1, P - point[3])
    return point_encode(point_add(point_mul(s, BASE), point_mul(h, negative))) == signature[:32]


# ---- Keys ----

def from_base64url(text):
    """The bytes of a text, or None if no bytes are written so."""
    try:
        found = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    return found if base64.urlsafe_b64encode(found).rstrip(b"=").decode() == text else None


def parse_keys(text):
    """The bytes of each Ed25519 public key, by its thumbprint (RFC 7638)."""
    found = []
    if "-----BEGIN" in text:
        for content in re.findall(r"-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----", text):
            der = base64.b64decode(content)
            if der.hex().startswith("302a300506032b6570032100") and len(der) == 44:
                found.append(der[12:])
    else:
        document = json.loads(text)
        for jwk in document["keys"] if "keys" in document else [document]:
            if jwk.get("kty") == "OKP" and jwk.get("crv") == "Ed25519":
                found.append(from_base64url(str(jwk.get("x"))))
    return {thumbprint(key): key for key in found if key is not None and len(key) == 32}


def thumbprint(key):
    x = base64.urlsafe_b64encode(key).rstrip(b"=").decode()
    text = '{"crv":"Ed25519","kty":"OKP","x":"%s"}' % x
    return base64.urlsafe_b64encode(sha256(text.encode())).rstrip(b"=").decode()


# ---- Trees ----

def is_included(link, index, size, path, root):
    """Whether a path leads from a link to the root over `size` links (RFC 9162, section 2.1.3.2)."""
    if index >= size:
        return False
    at, last, found = index, size - 1, sha256(b"\0", link)
    for step in map(bytes.fromhex, path):
        if last == 0:
            return False
        if at % 2 == 1 or at == last:
            found = sha256(b"\1", step, found)
            while at % 2 == 0 and at != 0:
                at, last = at >> 1, last >> 1
        else:
            found = sha256(b"\1", found, step)
        at, last = at >> 1, last >> 1
    return last == 0 and found.hex() == root


def is_extension(size, root, later_size, later_root, path):
    """Whether a path shows that a tree extends an earlier, smaller one (RFC 9162, section 2.1.4.2)."""
    at, last = size - 1, later_size - 1
    while at % 2 == 1:
        at, last = at >> 1, last >> 1
    steps = ([root] if at == 0 else []) + path
    if not steps:
        return False
    earlier = later = bytes.fromhex(steps[0])
    for step in map(bytes.fromhex, steps[1:]):
        if last == 0:
            return False
        if at % 2 == 1 or at == last:
            earlier, later = sha256(b"\1", step, earlier), sha256(b"\1", step, later)
            while at % 2 == 0 and at != 0:
                at, last = at >> 1, last >> 1
        else:
            later = sha256(b"\1", later, step)
        at, last = at >> 1, last >> 1
    return last == 0 and earlier.hex() == root and later.hex() == later_root


class Links:
    """The tree over links, of which only the complete parts are kept, each with its size."""

    def __init__(self, size, roots):
        sizes = [2**bit for bit in reversed(range(size.bit_length())) if size >> bit & 1]
        hold(len(sizes) == len(roots), "the statement begins at the wrong event")
        self.size, self.parts = size, list(zip(sizes, map(bytes.fromhex, roots)))

    def add(self, link):
        part = (1, sha256(b"\0", link))
        while self.parts and self.parts[-1][0] == part[0]:
            part = (2 * part[0], sha256(b"\1", self.parts.pop()[1], part[1]))
        self.parts.append(part)
        self.size += 1

    def root(self):
        found = self.parts[-1][1]
        for _, left in reversed(self.parts[:-1]):
            found = sha256(b"\1", left, found)
        return found.hex()


def check_leaf(leaf, seal):
    """The path of a stream in the prefix tree over all streams. A branch covers its bit and all bits above it."""
    members = {name: leaf[name] for name in ("head", "links", "revision", "stream")}
    found = sha256(b"\0", json.dumps(members, separators=(",", ":")).encode())
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

HASH = "[0-9a-f]{64}"
COUNT = "0|[1-9][0-9]{0,15}"
LINK_TEXT = re.compile(
    r'\{"data":"(%s)","format":2,"id":"[0-9a-f-]{36}","metadata":"(%s)",' % (HASH, HASH)
    + r'"revision":([0-9]+),"stream":"([a-z0-9_-]+)","type":"([A-Za-z]+)"\}')
SEAL = re.compile(
    r'\{"at":"(?P<at>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z)",'
    r'"earlier":"(?P<earlier>%s)","events":(?P<events>%s),"keyId":"(?P<keyId>[A-Za-z0-9_-]{43})",'
    r'"number":(?P<number>%s),"position":(?:%s),"previous":"(?P<previous>%s)","root":"(?P<root>%s)",'
    r'"signature":"(?P<signature>[A-Za-z0-9_-]{86})","streams":(?:%s)\}'
    % (HASH, COUNT, COUNT, COUNT, HASH, HASH, COUNT))


def unique(members):
    """A text in which a name comes twice could be read in two ways."""
    hold(len(dict(members)) == len(members), "a name comes twice")
    return dict(members)


def without_sign(read):
    """The canonical form has no negative zero."""
    def number(text):
        hold(not text.startswith("-") or float(text) != 0, "-0 is not canonical")
        return read(text)
    return number


def read_data(text, revision):
    data = None
    try:
        data = json.loads(text, parse_int=without_sign(int), parse_float=without_sign(Decimal),
                          object_pairs_hook=unique)
    except (ValueError, RecursionError, Wrong):
        pass
    hold(isinstance(data, dict), "event %d is not in the documented form" % revision)
    return data


def link_of(previous, texts):
    return sha256(previous.encode(), texts["linkText"].encode("utf-8", "replace"))


# The only type of events of which a proof may hold the digest alone: what a provider charges. It moves no credits.
WITHHELD = "ProviderCostRecorded"


def read_event(texts, stream, revision):
    """An event whose link was proved, from the texts that the link is made of."""
    if "dataText" not in texts and "metadataText" not in texts:
        parts = read_data(texts["linkText"], revision)
        fits = sorted(parts) == ["data", "metadata", "type"] and isinstance(parts["type"], str)
        fits = fits and re.fullmatch("[A-Za-z]+", parts["type"])
        fits = fits and isinstance(parts["data"], dict) and isinstance(parts["metadata"], dict)
        hold(fits and "format" not in parts["metadata"], "event %d is not in the documented form" % revision)
        return {"format": 1, "type": parts["type"], "data": parts["data"]}
    found = LINK_TEXT.fullmatch(texts["linkText"])
    withheld = found is not None and found[5] == WITHHELD and "dataText" not in texts
    data, metadata = (sha256(texts.get(name, "").encode()).hex() for name in ("dataText", "metadataText"))
    whole = found and found.groups()[:4] == (found[1] if withheld else data, metadata, str(revision), stream)
    hold(whole, "the texts of event %d of %s do not belong together" % (revision, stream))
    return {"format": 2, "type": found[5], "data": {} if withheld else read_data(texts["dataText"], revision)}


def check_event(proven, leaf):
    """An event, and its place in the tree of its stream."""
    revision, link = proven["revision"], link_of(proven["previous"], proven)
    fits = is_included(link, revision, leaf["revision"] + 1, proven["path"], leaf["links"])
    hold(fits, "event %d is not in the tree of %s" % (revision, leaf["stream"]))
    return read_event(proven, leaf["stream"], revision)


def check_seal(proven, keys):
    found = SEAL.fullmatch(proven["dataText"])
    hold(found and int(found["number"]) < 2**31, "a seal is not in the documented form")
    number = int(found["number"])
    seal = {**found.groupdict(), "number": number, "events": int(found["events"]), "link": proven["link"]}
    link = link_of(proven["previous"], proven).hex()
    hold(link == proven["link"], "the link of seal %d is not that of its texts" % number)
    event = read_event(proven, "seals", number)
    fits = event["type"] == "LogSealed" and seal["previous"] == proven["previous"]
    hold(fits, "seal %d is not in the documented form" % number)
    what = "seal %d is signed with the key %s, which was not given" % (number, seal["keyId"])
    hold(seal["keyId"] in keys, what)
    signed = proven["dataText"].replace('"signature":"%s",' % seal["signature"], "", 1)
    signature = from_base64url(seal["signature"])
    good = signature is not None and ed25519_verify(keys[seal["keyId"]], signed.encode(), signature)
    hold(good, "the signature of seal %d is wrong" % number)
    return seal


# ---- Prices: docs/ledger-format.md, "Recomputing a price" ----

def divided_up(dividend, divisor):
    return -(-dividend // divisor)


def as_text(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).replace("E", "e") if isinstance(value, Decimal) else str(value)


def is_number(value):
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def receipt_fault(receipt):
    lines = receipt["lines"]
    amounts = [line[name] for line in lines for name in line if name.endswith("Micros")]
    if not all(map(is_amount, amounts)):
        raise ValueError("an amount is no whole number")
    if [line["kind"] for line in lines].count("base") != 1 or lines[0]["kind"] != "base":
        return "its receipt has not one base price"
    product, divisor, added = lines[0]["amountMicros"], 1, 0
    rates = [line.get("usdPerCreditMicros") for line in lines if line["kind"] == "surcharge"]
    rate = receipt.get("usdPerCreditMicros", rates[0] if rates else None)
    for line in lines[1:]:
        if line["kind"] == "surcharge":
            if not rate:
                return "its receipt has a surcharge and no exchange rate"
            amount = divided_up(line["usdMicros"] * 1000000, rate)
            if line["amountMicros"] != amount:
                return "its surcharge for %s is %s, not %d" % (line["parameter"], line["amountMicros"], amount)
            added += amount
        else:
            divisor *= 1000000
            product *= round(line["value"] * 1000000) if line["kind"] == "quantity" else line["factorMicros"]
    total = divided_up(product, divisor) + added
    if total != receipt["totalMicros"]:
        return "its price is %s, and its receipt adds up to %d" % (receipt["totalMicros"], total)
    return None


def describe(line, given):
    kind = line["kind"]
    if kind == "base":
        return "base %s" % line["amountMicros"]
    if kind == "quantity":
        return "quantity %s %s" % (line["parameter"], as_text(line["value"]))
    if kind == "multiplier":
        return "multiplier %s %s %s" % (line["parameter"], line["value"], line["factorMicros"])
    # In format 1, a surcharge does not say which value it is for: it is that of the input.
    values = [source[name] for source, name in ((line, "equals"), (given, line["parameter"])) if name in source]
    return "surcharge %s %s %s" % (line["parameter"], as_json(values[0]) if values else "undefined", line["usdMicros"])


def as_json(value):
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else as_text(value)


def rule_fault(receipt, rule, given):
    expected = ["base %s" % rule["baseMicros"]]
    for name in rule["quantities"]:
        if is_number(given.get(name)):
            expected.append("quantity %s %s" % (name, as_text(given[name])))
    for name, factors in rule["multipliers"].items():
        if name in given:
            value = as_text(given[name])
            expected.append("multiplier %s %s %s" % (name, value, factors.get(value, "none")))
    for surcharge in rule["surcharges"]:
        when = surcharge["when"]
        value = as_json(when["equals"])
        if when["parameter"] in given and as_json(given[when["parameter"]]) == value:
            expected.append("surcharge %s %s %s" % (when["parameter"], value, surcharge["usdMicros"]))
    found = [describe(line, given) for line in receipt["lines"]]
    for line in found:
        if line not in expected:
            return 'its receipt has the line "%s", which the price list does not give' % line
    for line in expected:
        if line not in found:
            return 'its receipt lacks the line "%s" of the price list' % line
    return None if len(found) == len(expected) else "its receipt has a line twice"


def published_rule(receipt, catalog):
    """The price rule that a receipt names, or what is wrong with the name."""
    revision, model, endpoint = receipt["catalogRevision"], receipt["model"], receipt["endpoint"]
    family = catalog.get(revision)
    if family is None:
        return "its receipt names catalog revision %s, which publishes no prices" % revision
    if family["id"] != model:
        return "catalog revision %s publishes %s, not %s" % (revision, family["id"], model)
    for each in family["endpoints"]:
        if each["id"] == endpoint:
            return each["pricing"]
    return "catalog revision %s has no endpoint %s" % (revision, endpoint)


# ---- The three kinds of proofs ----

SIGNS = {"CreditsGranted": 1, "CreditsWithdrawn": -1, "CreditsDebited": -1, "CreditsRefunded": 1}


def check_inclusion(proof, keys):
    seal = check_seal(proof["seal"], keys)
    check_leaf(proof["leaf"], seal)
    event, stream = check_event(proof["event"], proof["leaf"]), proof["leaf"]["stream"]
    revision = proof["event"]["revision"]
    lines = ["right: %s, event %d of %s, is sealed" % (event["type"], revision, stream)]
    return [seal], lines + moves(revision, event["type"], event["data"])


VERBS = {"CreditsGranted": "granted", "CreditsWithdrawn": "withdrawn", "CreditsDebited": "debited",
         "CreditsRefunded": "refunded"}


def is_run(value):
    return is_text(value) and re.fullmatch("run_[0-9a-z]{26}", value) is not None


def moves(revision, kind, data):
    """What an event did to the credits of its account, as the event says: one line, or none."""
    if kind not in VERBS:
        return []
    amount, after, run = data.get("amountMicros"), data.get("balanceAfterMicros"), data.get("runId")
    is_told = is_amount(amount) and is_amount(after) and ("runId" not in data or is_run(run))
    hold(is_told, "event %d is not in the documented form" % revision)
    named = " for " + run if "runId" in data else ""
    return ["credits: %s %s%s, %s after" % (as_credits(amount), VERBS[kind], named, as_credits(after))]


def check_consistency(proof, keys):
    earlier, later = check_seal(proof["earlier"], keys), check_seal(proof["later"], keys)
    first, last = earlier["number"], later["number"]
    hold(first < last and earlier["events"] <= later["events"], "the seals are in the wrong order")
    covered = is_included(bytes.fromhex(earlier["link"]), first, last, proof["inclusion"], later["earlier"])
    hold(covered, "seal %d does not cover seal %d" % (last, first))
    extends = is_extension(first, earlier["earlier"], last, later["earlier"], proof["consistency"])
    hold(extends, "seal %d does not extend what came before seal %d" % (last, first))
    return [earlier, later], ["right: seal %d extends seal %d" % (last, first)]


def check_statement(proof, keys):
    before, after = proof.get("from"), proof["to"]
    seals = [check_seal(each["seal"], keys) for each in (before, after) if each]
    hold(len(seals) == 1 or seals[0]["number"] < seals[1]["number"], "the seals are in the wrong order")
    for each, seal in zip((each for each in (before, after) if each), seals):
        check_leaf(each["leaf"], seal)
    stream = after["leaf"]["stream"]
    one = stream.startswith("account-") and (not before or before["leaf"]["stream"] == stream)
    hold(one, "the statement is not about one account")
    check_links(proof)
    catalog = {}
    if "catalog" in proof:
        check_leaf(proof["catalog"]["leaf"], seals[-1])
        hold(proof["catalog"]["leaf"]["stream"] == "catalog", "the prices are not those of the catalog")
        for each in proof["catalog"]["events"]:
            family = check_event(each, proof["catalog"]["leaf"])["data"].get("family")
            if family:
                catalog[each["revision"]] = family
    opening, closing, prices = check_events(proof, catalog)
    first = before["leaf"]["revision"] + 1 if before else 0
    count, where = after["leaf"]["revision"] + 1 - first, "between the seals" if before else "up to the seal"
    return seals, [
        "right: %s has %d events %s, all here" % (stream[len("account-"):], count, where),
        "balance: %s credits before, %s credits after" % (as_credits(opening), as_credits(closing)),
        "prices: %d recomputed" % prices]


def as_credits(micros):
    text = "%d.%06d" % divmod(micros, 1000000)
    return text.rstrip("0").rstrip(".")


def check_links(proof):
    """Follows the links and the tree over them, so that the events are known to be all there."""
    start, last_before = proof["start"], proof["from"]["leaf"]["revision"] if "from" in proof else -1
    first, link = start["revision"], start["previous"]
    hold(first == 0 or first <= last_before, "the statement begins at the wrong event")
    links = Links(first, start["tree"])
    for texts in proof["events"]:
        found = link_of(link, texts)
        links.add(found)
        link = found.hex()
        if links.size - 1 == last_before:
            covered = is_end(proof["from"]["leaf"], links, link)
            hold(covered, "the events are not those that the earlier seal covers")
    hold(is_end(proof["to"]["leaf"], links, link), "the events are not those that the seal covers")


def check_events(proof, catalog):
    """Follows the balance from event to event, and recomputes each price."""
    start, last_before = proof["start"], proof["from"]["leaf"]["revision"] if "from" in proof else -1
    stream, first = proof["to"]["leaf"]["stream"], start["revision"]
    level, debit, prices, opening, balance = 1, None, 0, 0, 0 if first == 0 else None
    for revision, texts in enumerate(proof["events"], first):
        event = read_event(texts, stream, revision)
        kind, data = event["type"], event["data"]
        what = "the format of event %d is lower than that of the event before it" % revision
        hold(event["format"] >= level, what)
        if revision == 0:
            genesis = sha256(b'{"format":2,"stream":"%s"}' % stream.encode()).hex()
            is_first = start["previous"] == ("0" * 64 if event["format"] == 1 else genesis)
            hold(is_first and kind == "AccountOpened", "the statement begins at the wrong event")
            hold("account-" + data["accountId"] == stream, "the first event opens another account")
        level = event["format"]
        if kind in SIGNS:
            balance = balance_after(revision, kind, data, balance)
        hold(balance is not None, "the statement begins at the wrong event")
        if debit:
            is_next = kind == "RunQueued" and data.get("runId") == debit["runId"]
            hold(is_next, "event %d is not the run of the debit before it" % revision)
            check_price(revision, debit["receipt"], data, catalog)
            debit, prices = None, prices + 1
        if kind == "CreditsDebited":
            debit, receipt = data, data["receipt"]
            same = receipt["totalMicros"] == data["amountMicros"]
            hold(same, "event %d debits another amount than its receipt" % revision)
            fault = receipt_fault(receipt)
            hold(fault is None, "event %d: %s" % (revision, fault))
        if revision == last_before:
            opening = balance
    return opening, balance, prices


def is_end(leaf, links, head):
    return links.size == leaf["revision"] + 1 and links.root() == leaf["links"] and head == leaf["head"]


def balance_after(revision, kind, data, before):
    """The balance after an event. Where it is not known before, the event must tell it."""
    amount, after, sign = data.get("amountMicros"), data.get("balanceAfterMicros"), SIGNS[kind]
    hold(is_amount(amount) and is_amount(after), "event %d is not in the documented form" % revision)
    sums = "%s %s %s" % (before, "-" if sign < 0 else "+", amount)
    what = "the balance after event %d is %d, and %s is not" % (revision, after, sums)
    hold(before is None or before + sign * amount == after, what)
    return after


def is_amount(value):
    return type(value) is int and 0 <= value < 2**53


def check_price(revision, receipt, queued, catalog):
    same = receipt["model"] == queued["model"] and receipt["endpoint"] == queued["endpoint"]
    hold(same, "event %d runs another model than the receipt before it" % revision)
    rule = published_rule(receipt, catalog)
    fault = rule if isinstance(rule, str) else rule_fault(receipt, rule, queued["input"])
    hold(fault is None, "event %d: %s" % (revision - 1, fault))


# ---- The shape of the document ----

def is_text(value):
    return isinstance(value, str)


def is_hash(value):
    return is_text(value) and re.fullmatch(HASH, value) is not None


def is_whole(below):
    return lambda value: type(value) is int and 0 <= value < below


def is_list(of):
    return lambda value: isinstance(value, list) and all(map(of, value))


def is_object(**members):
    """An object with these members and no others. A name that ends in `_` may be absent."""
    names = {name.rstrip("_"): check for name, check in members.items()}
    needed = {name for name in members if not name.endswith("_")}
    return lambda value: (isinstance(value, dict) and needed <= value.keys() <= names.keys()
                          and all(names[name](each) for name, each in value.items()))


REVISION = is_whole(2**31 - 1)
TEXTS = {"linkText": is_text, "dataText_": is_text, "metadataText_": is_text}
EVENT = is_object(revision=REVISION, previous=is_hash, path=is_list(is_hash), **TEXTS)
LEAF = is_object(
    stream=lambda value: is_text(value) and re.fullmatch("[a-z]+(-[a-z0-9_]+)?", value) is not None,
    revision=REVISION, head=is_hash, links=is_hash,
    path=is_list(is_object(bit=is_whole(256), sibling=is_hash)))
SEALED = is_object(previous=is_hash, linkText=is_text, dataText=is_text, metadataText=is_text, link=is_hash)
ACCOUNT = is_object(seal=SEALED, leaf=LEAF)
KINDS = {
    "inclusion": (check_inclusion, {"event": EVENT, "leaf": LEAF, "seal": SEALED}),
    "consistency": (check_consistency, {
        "earlier": SEALED, "later": SEALED, "inclusion": is_list(is_hash), "consistency": is_list(is_hash)}),
    "statement": (check_statement, {
        "from_": ACCOUNT, "to": ACCOUNT,
        "start": is_object(revision=REVISION, previous=is_hash, tree=is_list(is_hash)),
        "events": lambda value: is_list(is_object(**TEXTS))(value) and len(value) > 0,
        "catalog_": is_object(leaf=LEAF, events=is_list(EVENT))})}


CONSISTENCY = "; a proof of consistency from the earlier to the later one shows whether both are of one log"


def check(text, keys, kept=None):
    """Returns what a proof shows, as lines. Raises Wrong if it shows nothing."""
    what = "it is no tollgate-proof of version 1 in the documented form"
    try:
        proof = json.loads(text)
        checker, members = KINDS[proof["kind"]]
        shape = is_object(format=is_text, version=is_whole(2**31), kind=is_text, **members)
        fits = shape(proof) and proof["format"] == "tollgate-proof" and proof["version"] == 1
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Wrong(what) from None
    hold(fits, what)
    try:
        seals, lines = checker(proof, keys)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError):
        # The owner of the log may have put anything into an event, so reading it may fail anywhere.
        raise Wrong("an event is not in the documented form") from None
    about = ["%d:%s" % (seal["number"], seal["link"]) for seal in seals]
    if kept is not None and kept not in about:
        known = int(kept.split(":")[0]) in [seal["number"] for seal in seals]
        what = "it is about seal %s, and not about seal %s, which was kept" % (about[-1], kept)
        raise Wrong(what + ("" if known else CONSISTENCY))
    return lines + ["seal %s of %s" % (name, seal["at"]) for name, seal in zip(about, seals)]


def no_key(path, text):
    if "PRIVATE KEY" in text:
        what = '%s has a private key, and no public one: "openssl pkey -in %s -pubout" prints its public key.'
        return what % (path, path)
    return "%s has no Ed25519 public key." % path


def main():
    parser = argparse.ArgumentParser(description="Checks a proof of Tollgate.")
    parser.add_argument("proof")
    parser.add_argument("--key", required=True, help="the public keys: PEM, a JSON Web Key, or a set of them")
    parser.add_argument("--seal", help="a seal that you kept, as NUMBER:LINK")
    options = parser.parse_args()
    if options.seal is not None and not re.fullmatch("(0|[1-9][0-9]{0,14}):" + HASH, options.seal):
        parser.error("--seal must be a seal such as 12:6cdf…, with 64 hexadecimal digits.")
    try:
        with open(options.key, encoding="utf-8") as file:
            key_text = file.read()
        keys = parse_keys(key_text)
        with open(options.proof, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print("It cannot be read: %s." % error, file=sys.stderr)
        return 2
    if not keys:
        print(no_key(options.key, key_text), file=sys.stderr)
        return 2
    try:
        lines = check(text, keys, options.seal)
    except Wrong as wrong:
        print("wrong: " + re.sub("[^ -~]", "?", str(wrong)))
        return 1
    print("\n".join(lines + ([] if options.seal else ["Compare a seal with one that you kept: give it as --seal."])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
