#!/usr/bin/env python3
"""Replay the golden vectors against a running service, over HTTP.

    scripts/replay.py http://127.0.0.1:8080 test/vectors [family ...]

A family is read from <family>.jsonl.gz, or from <family>.jsonl where there is no such file.
Number tokens, key order and duplicate keys are compared as written, never through floats or dicts.
Prints a line per family and the first mismatches; exits 0 only when every vector that ran agreed.
COATCHECK_TOKEN, when set, is sent as a bearer token.
"""
import argparse
import gzip
import hashlib
import http.client
import json
import os
import sys
import urllib.parse
import uuid


class Num(str):
    """A number token as it stands in the document."""


class Obj(list):
    """An object as ordered (key, value) pairs."""


def parse(text):
    def pairs(items):
        out = {}
        for k, v in items:      # last value, first position, as the reference does
            out[k] = v
        return Obj(out.items())
    return json.loads(text, parse_int=Num, parse_float=Num, object_pairs_hook=pairs)


def dump(v):
    if v is None:
        return "null"
    if v is True:
        return "true"
    if v is False:
        return "false"
    if isinstance(v, Num):
        return str(v)
    if isinstance(v, int):
        return str(v)
    if isinstance(v, str):
        return json.dumps(v)
    if isinstance(v, Obj):
        return "{" + ",".join(json.dumps(k) + ":" + dump(x) for k, x in v) + "}"
    if isinstance(v, dict):
        return "{" + ",".join(json.dumps(k) + ":" + dump(x) for k, x in v.items()) + "}"
    return "[" + ",".join(dump(x) for x in v) + "]"


def get(o, key, default=None):
    for k, v in o or ():
        if k == key:
            return v
    return default


def expand(v):
    """Expand the generator specs $repeat, $concat and $seq."""
    if isinstance(v, Obj):
        if len(v) == 1:
            k, x = v[0]
            if k == "$repeat":
                return expand(x[0]) * int(x[1])
            if k == "$concat":
                return "".join(expand(p) for p in x)
            if k == "$seq":
                a, b, pad = int(get(x, "from")), int(get(x, "to")), int(get(x, "pad"))
                before, after = expand(get(x, "before")), expand(get(x, "after"))
                return "".join(f"{before}{n:0{pad}d}{after}" for n in range(a, b + 1))
        return Obj((k, expand(x)) for k, x in v)
    if isinstance(v, list):
        return [expand(x) for x in v]
    return v


def same_text(expected, got):
    """Compare a string with an expectation that may be given by its digest."""
    if isinstance(expected, Obj) and get(expected, "$sha256") is not None:
        return isinstance(got, str) and hashlib.sha256(got.encode("utf-8", "surrogatepass")).hexdigest() == get(expected, "$sha256")
    return expand(expected) == got


class Client:
    def __init__(self, base):
        u = urllib.parse.urlsplit(base)
        self.conn = http.client.HTTPConnection(u.hostname, u.port or 80, timeout=60)
        self.headers = {"content-type": "application/json"}
        if os.environ.get("COATCHECK_TOKEN"):
            self.headers["authorization"] = "Bearer " + os.environ["COATCHECK_TOKEN"]

    def post(self, path, body):
        self.conn.request("POST", path, dump(body).encode("ascii"), self.headers)
        r = self.conn.getresponse()
        text = r.read().decode("utf-8")
        try:
            doc = parse(text) if text else None
        except ValueError:
            doc = text
        return r.status, doc


def preview(c, i):
    s, r = c.post("/v1/preview", {"handle": get(i, "handle"), "value": get(i, "value"), "format": "reference"})
    return get(r, "preview") if s == 200 else (s, r)


def reference_hint(c, i):
    s, r = c.post("/v1/preview", {"handle": get(i, "handle"), "value": None, "format": "reference"})
    return get(r, "hint") if s == 200 else (s, r)


def window(c, i):
    s, r = c.post("/v1/window", {"content": get(i, "content"), "recall_id": get(i, "recall_id"),
                                 "first_line": get(i, "first_line"), "format": "reference"})
    if s != 200:
        return (s, r)
    if get(r, "windowed") is False:
        return None if get(r, "content") == get(i, "content") else "content changed though it fits"
    return get(r, "content")


def bounded(c, i):
    s, r = c.post("/v1/window", {"content": get(i, "content"), "format": "reference"})
    return get(r, "content") if s == 200 else (s, r)


def resolve(c, i):
    run = "replay-" + uuid.uuid4().hex
    for n, v in enumerate(get(i, "store"), 1):
        s, r = c.post(f"/v1/runs/{run}/results", {"tool_use_id": f"t{n}", "output": v})
        if s != 201 or get(r, "handle") != f"r{n}":
            return (s, r)
    if not get(i, "store"):
        c.conn.request("PUT", f"/v1/runs/{run}", b"{}", c.headers)
        c.conn.getresponse().read()
    s, r = c.post(f"/v1/runs/{run}/resolve", {"arguments": get(i, "params")})
    return Obj([("params", get(r, "arguments")), ("resolved", get(r, "resolved"))]) if s == 200 else (s, r)


def sentinels(c, i):
    op = get(i, "op")
    if op == "encode_suspension":
        s, r = c.post("/v1/sentinels/encode", {"suspension": Obj([(k, v) for k, v in i if k != "op"])})
        return get(r, "output") if s == 200 else (s, r)
    if op == "encode_failure":
        s, r = c.post("/v1/sentinels/encode", {"failure": Obj([(k, v) for k, v in i if k != "op"])})
        return get(r, "output") if s == 200 else (s, r)
    s, r = c.post("/v1/sentinels/decode", {"output": get(i, "output")})
    return Obj([("suspension", get(r, "suspension")), ("failure", get(r, "failure"))]) if s == 200 else (s, r)


def content_string(c, i):
    s, r = c.post("/v1/content-string", {"value": get(i, "value")})
    return get(r, "content") if s == 200 else (s, r)


def error_chain(c, i):
    if get(i, "messages") is None:
        return NotImplemented
    s, r = c.post("/v1/sentinels/encode", {"failure": {"kind": "handler", "messages": get(i, "messages"), "attempts": 1}})
    return get(get(get(r, "output"), "__salvor_error"), "message") if s == 200 else (s, r)


def compact_error(c, i):
    s, r = c.post("/v1/failures/compact", {"events": [{"tool": "t", "message": get(i, "message")}]})
    return get(r, "contents")[0] if s == 200 else (s, r)


def failure_tracker(c, i):
    s, r = c.post("/v1/failures/compact", {"events": get(i, "events")})
    return get(r, "contents") if s == 200 else (s, r)


def micro_compact(c, i):
    s, r = c.post("/v1/compaction/elide", {"messages": get(i, "messages"), "format": "reference",
                                           "keep_recent_tool_results": get(i, "keep_recent")})
    return Obj([("messages", get(r, "messages")), ("elided", Num(len(get(r, "elided"))))]) if s == 200 else (s, r)


def trigger(c, i):
    s, r = c.post("/v1/compaction/trigger", i)
    if s != 200:
        return (s, r)
    return Obj([("trigger", get(r, "trigger")), ("threshold", get(r, "threshold_tokens")), ("fires", get(r, "fires"))])


def compaction_apply(c, i):
    s, r = c.post("/v1/compaction/apply", i)
    if s != 200:
        return (s, r)
    if get(r, "compacted") is False:
        return None
    keys = ("transcript", "replaced_items", "preserved_items", "preserved_user_turns", "split_turn",
            "approx_tokens_before", "approx_tokens_after", "summary_preview")
    return Obj((k, get(r, k)) for k in keys)


def read(folder, name):
    path = os.path.join(folder, name + ".jsonl")
    opened = gzip.open(path + ".gz", "rt", encoding="ascii") if os.path.exists(path + ".gz") else open(path, encoding="ascii")
    with opened as lines:
        return lines.read().split("\n")


FAMILIES = {f.__name__: f for f in (preview, reference_hint, window, bounded, resolve, sentinels, content_string, error_chain,
                                    compact_error, failure_tracker, micro_compact, trigger, compaction_apply)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="where the service listens")
    parser.add_argument("folder", help="where the files of the families are")
    parser.add_argument("family", nargs="*", help="one of " + ", ".join(FAMILIES) + "; none: all")
    given = parser.parse_args()
    unknown = [name for name in given.family if name not in FAMILIES]
    if unknown:
        parser.error("no family is called " + ", ".join(unknown))
    return given


def main():
    given = arguments()
    folder = given.folder
    client, worst = Client(given.base), 0
    for name in given.family or FAMILIES:
        run, ok, bad, skipped, shown = FAMILIES[name], 0, 0, 0, 0
        for line in read(folder, name):
            if not line:
                continue
            v = parse(line)
            got = run(client, expand(get(v, "input")))
            if got is NotImplemented:
                skipped += 1
                continue
            want = get(v, "expected")
            good = same_text(want, got) if isinstance(got, str) else dump(expand(want)) == (dump(got) if not isinstance(got, tuple) else None)
            ok, bad = ok + good, bad + (not good)
            if not good and shown < 3:
                shown += 1
                print(f"  {name}: {get(v, 'name')}\n    want {dump(want)[:300]}\n    got  {str(got)[:300]}")
        worst += bad
        print(f"{name}: {ok} agree, {bad} differ" + (f", {skipped} skipped" if skipped else ""))
    sys.exit(1 if worst else 0)


if __name__ == "__main__":
    main()
