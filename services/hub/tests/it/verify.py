"""Verifies a pushed Response, a directive or an acknowledgement, as its receiver would, with Python's standard library and nothing of the hub.

Reads one JSON object from standard input:

    header        MA2H-Signature, with its name or without: t=…,jti=…,v1=…
    body          the body's text as received; of a directive, it alone or as the one member of what was drained or pushed
    callback_url  of a Response: the agent's own callback, as it registered it
    address       of a directive: the agent's own address
    ack           true where it is an acknowledgement
    alg           hmac-sha256 or ed25519
    key           the secret as text, or the public key as base64url
    now           the agent's clock, unix seconds
    seen          the jti values already taken

and prints {"ok": true} or {"ok": false, "why": "…"}. With --self-test it checks itself instead.
"""

import base64
import hashlib
import hmac
import json
import math
import re
import sys

REPLAY_WINDOW_SECONDS = 120
MAC_BYTES_MIN = 32
HEADER_NAME = "MA2H-Signature:"


class Refused(Exception):
    """The push must not be acted on."""


# --- JSON, read strictly ---------------------------------------------------------------------------------------


def read_json(text):
    """Parses JSON text; a name twice in one object, or a number that no double holds, is refused."""

    def pairs(members):
        names = [name for name, _ in members]
        if len(names) != len(set(names)):
            raise Refused("the body has a name twice")
        return dict(members)

    def number(digits):
        value = float(digits)
        if not math.isfinite(value):
            raise Refused("the body has a number that no double holds")
        return value

    def constant(_):
        raise Refused("the body is not JSON")

    try:
        return json.loads(
            text, object_pairs_hook=pairs, parse_int=number, parse_float=number, parse_constant=constant
        )
    except ValueError as error:
        raise Refused("the body is not JSON") from error


# --- RFC 8785: the canonical form of JSON ----------------------------------------------------------------------

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def canonical(value):
    """The text that is signed: names in the order of their UTF-16 units, numbers as ECMAScript writes them."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return canonical_string(value)
    if isinstance(value, (int, float)):
        return canonical_number(float(value))
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(canonical_string(name) + ":" + canonical(value[name]) for name in names) + "}"


def canonical_string(text):
    out = ['"']
    for char in text:
        if char in ESCAPES:
            out.append(ESCAPES[char])
        elif char < " ":
            out.append("\\u%04x" % ord(char))
        elif "\ud800" <= char <= "\udfff":
            raise Refused("the body has half of a surrogate pair")
        else:
            out.append(char)
    out.append('"')
    return "".join(out)


def canonical_number(value):
    """ECMAScript's Number::toString. Python's repr finds the same shortest digits and lays them out differently."""
    if not math.isfinite(value):
        raise Refused("a number is not finite")
    if value == 0:
        return "0"
    if value < 0:
        return "-" + canonical_number(-value)
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The value is 0.DIGITS times ten to the point.
    point = len(whole) + int(exponent or "0") - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    sign = "+" if exponent > 0 else "-"
    tail = "." + digits[1:] if count > 1 else ""
    return digits[0] + tail + "e" + sign + str(abs(exponent))


# --- RFC 8032: Ed25519 -----------------------------------------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)


def recover_x(y, odd):
    """The x of a point on the curve, or None where there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    if square == 0:
        return None if odd else 0
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P:
        return None
    return P - x if x & 1 != odd else x


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE_X = recover_x(BASE_Y, 0)
BASE = (BASE_X, BASE_Y, 1, BASE_X * BASE_Y % P)
NEUTRAL = (0, 1, 1, 0)


def add(p, q):
    """Sum of two points in extended coordinates (RFC 8032 §5.1.4)."""
    a = (p[1] - p[0]) * (q[1] - q[0]) % P
    b = (p[1] + p[0]) * (q[1] + q[0]) % P
    c = 2 * p[3] * q[3] * D % P
    d = 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(factor, point):
    total = NEUTRAL
    while factor:
        if factor & 1:
            total = add(total, point)
        point = add(point, point)
        factor >>= 1
    return total


def same(p, q):
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def decompress(data):
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    x = recover_x(y, odd)
    return None if x is None else (x, y, 1, x * y % P)


def ed25519_verify(public, message, signature):
    """RFC 8032 §5.1.7, without the cofactor."""
    if len(public) != 32 or len(signature) != 64:
        return False
    a, r = decompress(public), decompress(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    challenge = hashlib.sha512(signature[:32] + public + message).digest()
    k = int.from_bytes(challenge, "little") % ORDER
    return same(times(s, BASE), add(r, times(k, a)))


# --- §9.2: the signature of a push -----------------------------------------------------------------------------


def decode_base64url(text):
    """Bytes of base64url, without padding or with exactly what its length asks for; otherwise None."""
    match = re.fullmatch(r"([A-Za-z0-9_-]*)(=*)", text)
    if not match:
        return None
    body, padding = match.groups()
    expected = -len(body) % 4
    if expected == 3 or len(padding) not in (0, expected):
        return None
    return base64.urlsafe_b64decode(body + "=" * expected)


def decode_mac(text):
    mac = decode_base64url(text)
    return mac if mac is not None and len(mac) >= MAC_BYTES_MIN else None


def read_header(header):
    if header.startswith(HEADER_NAME):
        header = header[len(HEADER_NAME) :]
    fields = {}
    for part in header.split(","):
        name, separator, value = part.strip().partition("=")
        if not separator or name in fields:
            raise Refused("the header is malformed")
        fields[name] = value
    if not all(fields.get(name) for name in ("t", "jti", "v1")):
        raise Refused("the header lacks a part")
    if not re.fullmatch(r"[0-9]{1,15}", fields["t"]):
        raise Refused("the header's time is no number")
    return fields["t"], fields["jti"], fields["v1"]


def payload_sha256(body):
    payload = {"response": body.get("response"), "state": body.get("state")}
    return hashlib.sha256(canonical(payload).encode("utf-8")).hexdigest()


def signed_context(body, callback_url, t, jti):
    """What the hub must have signed, made of what was received and of what the agent knows itself."""
    for name in ("ma2h_version", "in_reply_to", "resolution", "resolution_id"):
        if not isinstance(body.get(name), str):
            raise Refused("the body lacks " + name)
    detail = body.get("response")
    if detail is not None and not isinstance(detail, dict):
        raise Refused("the body's response is no object")
    resolved_at = None if detail is None else detail.get("resolved_at")
    if detail is not None and not isinstance(resolved_at, str):
        raise Refused("the body's response lacks resolved_at")
    return {
        "ma2h_version": body["ma2h_version"],
        "callback_url": callback_url,
        "id": body["in_reply_to"],
        "in_reply_to": body["in_reply_to"],
        "jti": jti,
        "payload_sha256": payload_sha256(body),
        "resolution": body["resolution"],
        "resolution_id": body["resolution_id"],
        "resolved_at": resolved_at,
        "t": t,
    }


def inner_directive(body):
    """The directive of a drained item or of a webhook's body. Nothing unsigned may pass beside it."""
    is_wrapped = set(body) <= {"directive", "signature"} and isinstance(body.get("directive"), dict)
    return body["directive"] if is_wrapped else body


def directive_context(body, address, t, jti):
    """What the hub must have signed of a directive, which its receiver finds to be its own."""
    for name in ("ma2h_version", "type", "id", "from", "to", "created_at", "title"):
        if not isinstance(body.get(name), str):
            raise Refused("the directive lacks " + name)
    if body["to"] != address:
        raise Refused("the directive is for another")
    content = {name: body[name] for name in ("title", "body", "priority", "tags", "context") if name in body}
    return {
        "from": body["from"],
        "id": body["id"],
        "jti": jti,
        "ma2h_version": body["ma2h_version"],
        "payload_sha256": hashlib.sha256(canonical({"directive": content}).encode("utf-8")).hexdigest(),
        "t": t,
        "to": body["to"],
    }


def ack_context(body, t, jti):
    """What the hub must have signed of an acknowledgement; what is absent of it counts as null."""
    for name in ("ma2h_version", "in_reply_to", "by", "acked_at"):
        if not isinstance(body.get(name), str):
            raise Refused("the acknowledgement lacks " + name)
    if body.get("type") != "ack":
        raise Refused("the body is no acknowledgement")
    content = {name: body.get(name) for name in ("acked_at", "by", "in_reply_to", "note", "resolution_id")}
    return {
        "ack_sha256": hashlib.sha256(canonical(content).encode("utf-8")).hexdigest(),
        "by": body["by"],
        "in_reply_to": body["in_reply_to"],
        "jti": jti,
        "ma2h_version": body["ma2h_version"],
        "t": t,
    }


def verify(push):
    t, jti, v1 = read_header(push["header"])
    mac = decode_mac(v1)
    if mac is None:
        raise Refused("the signature is malformed")
    body = read_json(push["body"])
    if not isinstance(body, dict):
        raise Refused("the body is no object")
    if push.get("ack"):
        context = ack_context(body, t, jti)
    elif "address" in push:
        context = directive_context(inner_directive(body), push["address"], t, jti)
    else:
        context = signed_context(body, push["callback_url"], t, jti)
    signed = canonical(context).encode("utf-8")
    if push["alg"] == "hmac-sha256":
        expected = hmac.new(push["key"].encode("utf-8"), signed, hashlib.sha256).digest()
        valid = hmac.compare_digest(expected, mac)
    elif push["alg"] == "ed25519":
        public = decode_base64url(push["key"])
        valid = public is not None and ed25519_verify(public, signed, mac)
    else:
        raise Refused("the algorithm is unknown")
    if not valid:
        raise Refused("the signature does not match")
    if abs(int(push["now"]) - int(t)) > REPLAY_WINDOW_SECONDS:
        raise Refused("the time is outside of the replay window")
    if jti in push.get("seen", []):
        raise Refused("the jti was seen before")


def outcome(push):
    try:
        verify(push)
    except Refused as refused:
        return {"ok": False, "why": str(refused)}
    return {"ok": True}


# --- Self-test -------------------------------------------------------------------------------------------------

# IEEE 754 bits and the text that ECMAScript gives them (RFC 8785, appendix B).
NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]

# The published fixture dp-001.
SECRET = "ma2h-test-secret-key-0123456789ab"
PUSH = {
    "header": "t=1749050910,jti=jti_01HZX7Q9Z3DEMOFIX,v1=Ryfm6kkeIKl80WEanB__dxoyL6bg5yFF33bRpu_3cxc",
    "body": json.dumps(
        {
            "ma2h_version": "0.3",
            "in_reply_to": "msg_01HZXASK0001",
            "resolution_id": "res_01HZXR3SOLVE",
            "agent": {"id": "deploybot/dev-team", "run_id": "run_1"},
            "resolution": "answered",
            "response": {
                "value": "hold",
                "edited": False,
                "actor": "human:alice",
                "resolved_at": "2026-06-04T15:48:30Z",
                "comment": "Let's get a human eye on the migration first.",
            },
            "state": {"sealed": "v1.demo.MOCK-SEALED-STATE-BLOB"},
        }
    ),
    "callback_url": "https://deploybot.example/ma2h/resume",
    "alg": "hmac-sha256",
    "key": SECRET,
    "now": 1749050910,
    "seen": [],
}

# The published fixture dp-004: a payload of numbers, written here as carelessly as JSON allows.
NUMERIC_BODY = """{"response": {"value": {"amount": 1234.50, "count": 42.0, "ratio": -1e-3, "tiny": 0.0000001,
    "big": 1000000000000000000000, "max_safe": 9007199254740991, "items": [1, -2, 3.5], "ok": true},
    "edited": false, "actor": "human:alice", "resolved_at": "2026-06-12T00:00:00Z"},
    "state": {"seq": 7, "balance": -5e-1, "nested": {"n": -0}}}"""
NUMERIC_SHA256 = "56186e18d2371cee2a6636cdab7223ff52d64cfeb5bbcba01a0b4e91b7e51dca"

# A directive, and what is signed of it, written out.
DIRECTIVE = """{"ma2h_version": "0.6", "type": "directive", "id": "dir_1", "from": "human:alice", "to": "agent:orchard/pip",
    "created_at": "2026-06-30T12:00:00Z", "title": "Stop", "priority": "high", "tags": ["plums"], "sensitive": true,
    "context": [{"kind": "data", "data": {"kg": 1.50}}]}"""
DIRECTIVE_CONTENT = (
    '{"directive":{"context":[{"data":{"kg":1.5},"kind":"data"}],"priority":"high","tags":["plums"],"title":"Stop"}}'
)
DIRECTIVE_SIGNED = (
    '{"from":"human:alice","id":"dir_1","jti":"jti_1","ma2h_version":"0.6","payload_sha256":"%s","t":"1749050910",'
    '"to":"agent:orchard/pip"}'
)

# Secret-free test vectors of RFC 8032 §7.1: public key, message, signature.
ED25519 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]

# The published fixture dp-025: values of v1, and whether they are well-formed.
MACS = [
    ("In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI", True),
    ("In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI=", True),
    ("3073dec57c04075d0b6bfa17c300fa9600ad92fb13e", True),
    ("In3evtBNZywRzuNYkphbw!_764_Wu98zWM5rZ1iN4VI", False),
    ("In3evtBNZywRzuNYkphbw+_764_Wu98zWM5rZ1iN4VI", False),
    ("In3evtBNZywRzuNYkphbw-/764_Wu98zWM5rZ1iN4VI", False),
    ("In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI==", False),
    ("In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VIA=", False),
    ("AAAAAAAAAAAAAAAAAAAA", False),
]


def self_test():
    import struct

    def check(name, found, expected):
        if found != expected:
            sys.exit("%s: %r, expected %r" % (name, found, expected))

    for bits, text in NUMBERS:
        check(bits, canonical_number(struct.unpack(">d", bytes.fromhex(bits))[0]), text)
    check("strings", canonical("\u20ac$\x0f\nA'B\"\\/\x7f"), '"\u20ac$\\u000f\\nA\'B\\"\\\\/\x7f"')
    keys = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    ordered = '{"\\r":2,"1":4,"\x80":6,"\xf6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    check("keys", canonical(keys), ordered)
    check("dp-004", payload_sha256(read_json(NUMERIC_BODY)), NUMERIC_SHA256)
    for mac, well_formed in MACS:
        check(mac, decode_mac(mac) is not None, well_formed)
    for public, message, signature in ED25519:
        public, message, signature = map(bytes.fromhex, (public, message, signature))
        check("ed25519", ed25519_verify(public, message, signature), True)
        check("ed25519, other message", ed25519_verify(public, message + b"x", signature), False)
        high = signature[:32] + (int.from_bytes(signature[32:], "little") + ORDER).to_bytes(32, "little")
        check("ed25519, malleated", ed25519_verify(public, message, high), False)
    check("dp-001", outcome(PUSH), {"ok": True})
    for name, change in [
        ("late", {"now": PUSH["now"] + 121}),
        ("early", {"now": PUSH["now"] - 121}),
        ("replayed", {"seen": ["jti_01HZX7Q9Z3DEMOFIX"]}),
        ("other endpoint", {"callback_url": "https://deploybot.example/ma2h/other"}),
        ("other key", {"key": SECRET + "x"}),
        ("answer changed", {"body": PUSH["body"].replace('"hold"', '"ship"')}),
        ("edited claimed", {"body": PUSH["body"].replace("false", "true")}),
        ("state changed", {"body": PUSH["body"].replace("MOCK", "mock")}),
        ("answer removed", {"body": PUSH["body"].replace('"response"', '"reply"')}),
        ("other message", {"body": PUSH["body"].replace("msg_01HZXASK0001", "msg_01HZXASK0002")}),
        ("a name twice", {"body": PUSH["body"].replace('"value"', '"value": "ship", "value"')}),
        ("other time", {"header": PUSH["header"].replace("t=1749050910", "t=1749050911")}),
        ("no header", {"header": ""}),
    ]:
        check(name, outcome({**PUSH, **change})["ok"], False)
    content = hashlib.sha256(DIRECTIVE_CONTENT.encode("utf-8")).hexdigest()
    mac = hmac.new(SECRET.encode("utf-8"), (DIRECTIVE_SIGNED % content).encode("utf-8"), hashlib.sha256).digest()
    directive = {
        "header": "t=1749050910,jti=jti_1,v1=" + base64.urlsafe_b64encode(mac).decode("ascii").rstrip("="),
        "body": DIRECTIVE,
        "address": "agent:orchard/pip",
        "alg": "hmac-sha256",
        "key": SECRET,
        "now": 1749050910,
    }
    check("a directive", outcome(directive), {"ok": True})
    pushed = '{"directive": %s}' % DIRECTIVE
    check("pushed", outcome({**directive, "body": pushed}), {"ok": True})
    named = "MA2H-Signature: " + directive["header"]
    drained = '{"directive": %s, "signature": "%s"}' % (DIRECTIVE, named)
    check("drained", outcome({**directive, "header": named, "body": drained}), {"ok": True})
    for name, change in [
        ("another's", {"address": "agent:orchard/other"}),
        ("other author", {"body": DIRECTIVE.replace("alice", "mallory")}),
        ("other title", {"body": DIRECTIVE.replace("Stop", "Go")}),
        ("less priority", {"body": DIRECTIVE.replace('"priority": "high", ', "")}),
        ("other jti", {"header": directive["header"].replace("jti_1", "jti_2")}),
        ("pushed, other title", {"body": pushed.replace("Stop", "Go")}),
        ("pushed, more beside it", {"body": pushed[:-1] + ', "title": "Go"}'}),
        ("pushed as a list", {"body": '{"directive": [%s]}' % DIRECTIVE}),
    ]:
        check(name, outcome({**directive, **change})["ok"], False)
    check("unbound", outcome({**directive, "body": DIRECTIVE.replace("true", "false")}), {"ok": True})
    for seconds in (-120, 120):
        check("within the window", outcome({**PUSH, "now": PUSH["now"] + seconds}), {"ok": True})
    print("ok")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        print(json.dumps(outcome(json.loads(sys.stdin.buffer.read().decode("utf-8")))))
