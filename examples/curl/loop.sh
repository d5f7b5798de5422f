#!/usr/bin/env bash
# The exchanges of an agent loop with a running coatcheck, by curl alone.
#
#   examples/curl/loop.sh
#
# COATCHECK_URL (default http://127.0.0.1:8080) says where the service is, COATCHECK_TOKEN, when set, is its token.
# Exits 0 only when every answer was as promised.
set -euo pipefail

url="${COATCHECK_URL:-http://127.0.0.1:8080}"
run="${url%/}/v1/runs/curl-$(date +%s)-$$-$RANDOM"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

auth=()
if [ -n "${COATCHECK_TOKEN:-}" ]; then auth=(-H "authorization: Bearer $COATCHECK_TOKEN"); fi

# Without a content type curl sends a form, which is refused: so every body here has one.
text='content-type: text/plain; charset=utf-8'
json='content-type: application/json'

# One call: the answer's body goes to $folder/answer, its status to $status.
call() {
  status="$(curl --silent --show-error --output "$folder/answer" --write-out '%{http_code}' ${auth[@]+"${auth[@]}"} "$@")" ||
    { echo "no service answers at $url; start one, or set COATCHECK_URL" >&2; exit 1; }
}

# The start of the answer; only this terminal is spared the rest.
show() { echo "> $1"; echo "< $status $(head -c "${2:-300}" "$folder/answer")"; echo; }

fail() { echo "FAILED: $1: $status $(head -c 2000 "$folder/answer")" >&2; exit 1; }
expect_status() { [ "$status" = "$1" ] || fail "expected $1"; }
expect() { grep -qF -- "$1" "$folder/answer" || fail "expected in the answer: $1"; }

# 1. A tool gives a big text: the content of the answer goes into the transcript.
seq -f 'line %05.0f of the log' 1 5000 > "$folder/log"
call -X POST "$run/results?tool_use_id=toolu_01&tool_name=read_log" -H "$text" --data-binary "@$folder/log"
show 'put a log of 5000 lines'
expect_status 201
expect '"handle":"r1"'
expect '"rendering":"window"'

# The note in the window is the recall call that returns what it leaves out. Quotes are escaped inside a JSON string.
note="$(sed 's/\\"/"/g' "$folder/answer" | grep -oE 'recall \{"id": "toolu_01", "range": \{[^}]*\}\}' || true)"
[ -n "$note" ] || fail 'expected a note with a recall'
echo "the note in its window: $note"
echo

# 2. The same put again is a retry: 200, and no second result.
call -X POST "$run/results?tool_use_id=toolu_01&tool_name=read_log" -H "$text" --data-binary "@$folder/log"
show 'the same put again' 60
expect_status 200
expect '"handle":"r1"'

# 3. The model's recall is forwarded as it is. A page ends where the limit is; `next` is the body of the following call.
body="${note#recall }"
until [ -z "$body" ]; do
  call -X POST "$run/recall" -H "$json" --data-binary "$body"
  show "recall $body" 120
  expect_status 200
  if grep -qF 'line 02500 of the log' "$folder/answer"; then break; fi
  body="$(grep -oE '"next":\{.*\}\}' "$folder/answer" | sed 's/^"next"://' || true)"
done
expect 'line 02500 of the log'

# 4. A JSON result, in an envelope. Its numbers stay as they are written.
call -X POST "$run/results" -H "$json" --data-binary '{
  "tool_use_id": "toolu_02", "tool_name": "query", "render": "preview",
  "output": {"rows": [{"id": 12345678901234567890, "name": "a"}, {"id": 2, "name": "b"}], "total": 1.0}
}'
show 'put a JSON value, shown as a preview' 2000
expect_status 201
expect '"handle":"r2"'

# 5. A reference in a call: the tool gets the value, and the value is validated.
schema='{"type": "object", "properties": {"row": {"type": "object"}}, "required": ["row"]}'
call -X POST "$run/resolve" -H "$json" --data-binary "{\"arguments\": {\"row\": \"\$r2.rows.0\"}, \"input_schema\": $schema}"
show 'resolve {"row": "$r2.rows.0"}'
expect_status 200
expect '{"row": {"id": 12345678901234567890, "name": "a"}}'
expect '"valid":true'

call -X POST "$run/resolve" -H "$json" --data-binary "{\"arguments\": {\"row\": \"\$r2.total\"}, \"input_schema\": $schema}"
show 'resolve {"row": "$r2.total"}' 600
expect_status 200
expect '"valid":false'
expect '__salvor_error'

# 6. Every byte is still there.
call "$run/results/r1/value"
expect_status 200
cmp "$folder/answer" "$folder/log" || fail 'expected the bytes that were put'
call "$run/results/r2/value?path=rows.0.id"
expect_status 200
[ "$(cat "$folder/answer")" = '12345678901234567890' ] || fail 'expected the number as it was written'

# 7. The run's account.
call "$run"
show 'the run' 600
expect '"results":2'

echo 'ok: every byte read back'
