#!/usr/bin/env python3
"""A small agent loop against a running coatcheck, with Python's standard library only.

    python3 examples/python/loop.py

COATCHECK_URL (default http://127.0.0.1:8080) says where the service is, COATCHECK_TOKEN, when set, is its token.
The model is a script; what it passes on it reads from the transcript, as a real one would. Every promise is
asserted, so the exit code is 0 only when all of them held.
"""
import hashlib
import json
import os
import re
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("COATCHECK_URL", "http://127.0.0.1:8080").rstrip("/")
TOKEN = os.environ.get("COATCHECK_TOKEN")
# One run per run of the loop. The name is ours to choose; it opens with the first put.
RUN = f"{URL}/v1/runs/python-{int(time.time())}-{secrets.token_hex(4)}"


def request(method, url, body=None, content_type="application/json"):
    """One call: (status, bytes). Anything but 2xx raises, with the problem's own words."""
    headers = {"authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    if body is not None:
        headers["content-type"] = content_type
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
    call = urllib.request.Request(url, data=body, headers=headers, method=method)
    try:
        with urllib.request.urlopen(call, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{method} {url}: {error.code} {error.read().decode()}")
    except urllib.error.URLError as error:
        raise SystemExit(f"no service answers at {URL} ({error.reason}); start one, or set COATCHECK_URL")


def put_bytes(tool_use_id, tool_name, value, content_type):
    """A result as its bytes. Retry it freely: the same id with the same bytes is the same result."""
    query = urllib.parse.urlencode({"tool_use_id": tool_use_id, "tool_name": tool_name})
    status, answer = request("POST", f"{RUN}/results?{query}", value, content_type)
    return status, json.loads(answer)


def post(path, body):
    return json.loads(request("POST", RUN + path, body)[1])


def show(who, text):
    """What the model sees; only this terminal is spared the middle."""
    lines = text.splitlines()
    if len(lines) > 6:
        notes = [line for line in lines[3:-1] if line.startswith("[")]
        lines = lines[:3] + [f"<{len(lines) - 4 - len(notes)} lines not printed>"] + notes + lines[-1:]
    print(f"{who}: " + "\n    ".join(lines))


def main():
    # 1. A tool gives a big text. The model gets its two ends and a note in between.
    log = "".join(f"{n:05d} {'ERROR disk full' if n == 2500 else 'ok'} é\r\n" for n in range(1, 5001)).encode()
    status, kept = put_bytes("toolu_log", "read_log", log, "text/plain; charset=utf-8")
    assert status == 201 and kept["rendering"] == "window", kept
    assert kept["total_bytes"] == len(log) and kept["sha256"] == hashlib.sha256(log).hexdigest()
    show("read_log", kept["content"])

    # The answer got lost? Send it again: 200, and the same answer.
    status, again = put_bytes("toolu_log", "read_log", log, "text/plain; charset=utf-8")
    assert status == 200 and again == kept, "a retry is no second result"

    # 2. The model follows the note: its arguments go to recall untouched, the page's text back to the model.
    arguments = json.loads(re.search(r"recall (\{.*\}) returns", kept["content"]).group(1))
    show("model", f"recall {json.dumps(arguments)}")
    page = post("/recall", arguments)
    assert "02500 ERROR disk full" in page["text"], "the omitted lines are within reach"
    show("recall", page["text"])

    # 3. A tool gives a big JSON value, with a number that floats cannot hold. The model gets a typed preview.
    rows = [{"id": 9007199254740993 + n, "name": f"row {n}", "size": n * 10} for n in range(2000)]
    value = json.dumps({"rows": rows, "total": len(rows)}).encode()
    status, table = put_bytes("toolu_rows", "query", value, "application/vnd.example+json")
    assert status == 201 and table["kind"] == "json" and table["rendering"] == "preview", table
    show("query", table["content"])

    # 4. The model passes a reference instead of two thousand rows. The first try takes the wrong member.
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array", "items": {"type": "object", "required": ["size"]}}},
        "required": ["rows"],
    }
    request("PUT", f"{RUN}/tools/sum_sizes", {"input_schema": schema})
    handle = re.match(r"(r\d+) = json\(", table["content"]).group(1)
    wrong = {"rows": f"${handle}.total"}
    show("model", f"sum_sizes {json.dumps(wrong)}")
    checked = post("/resolve", {"tool_name": "sum_sizes", "arguments": wrong})
    assert checked["valid"] is False and checked["errors"][0]["path"] == "/rows", checked
    error = checked["failure"]["__salvor_error"]
    failure = {key: error[key] for key in ("kind", "message", "attempts")}
    failed = post("/results", {"tool_use_id": "toolu_sum_1", "tool_name": "sum_sizes", "failure": failure})
    assert failed["outcome"] == "failure" and "/rows" in failed["content"], failed
    show("sum_sizes failed", failed["content"])

    # The second try is valid, and the tool gets the real rows.
    right = {"rows": f"${handle}.rows"}
    show("model", f"sum_sizes {json.dumps(right)}")
    checked = post("/resolve", {"tool_name": "sum_sizes", "arguments": right})
    assert checked["valid"] is True and checked["resolved"] == [f"{handle}.rows"], checked
    assert checked["arguments"]["rows"] == rows, "the tool gets the value, exact to the last digit"
    total = sum(row["size"] for row in checked["arguments"]["rows"])
    _, summed = put_bytes("toolu_sum_2", "sum_sizes", str(total).encode(), "text/plain; charset=utf-8")
    assert summed["content"] == str(total)
    show("sum_sizes", summed["content"])

    # 5. Every byte is still there: by the raw read, and by following `next` from the id alone.
    for result, sent in ((kept, log), (table, value)):
        _, back = request("GET", f"{RUN}/results/{result['handle']}/value")
        assert back == sent and hashlib.sha256(back).hexdigest() == result["sha256"], result["handle"]
    text, following = "", {"id": "toolu_log"}
    while following is not None:
        page = post("/recall", following)
        text, following = text + page["content"], page["next"]
    assert text.encode() == log, "pages joined are the whole"

    run = json.loads(request("GET", RUN)[1])
    assert run["results"] == 4, run
    print(f"ok: {run['produced_chars']} characters produced, {run['shown_chars']} shown, every byte read back")


if __name__ == "__main__":
    main()
