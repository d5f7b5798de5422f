import { previewExtended } from '../src/core/preview/json/preview-json.ts'
import { parseJson } from '../src/core/json/scan.ts'
import { JsonSlice } from '../src/core/json/slice.ts'
import { readFileSync } from 'node:fs'
for (const f of process.argv.slice(2)) {
  const b = readFileSync(f)
  const v = parseJson(b)
  const t0 = performance.now()
  const p = previewExtended(v, 1000)
  console.log(f, b.length, Buffer.byteLength(p), (performance.now()-t0).toFixed(1)+'ms')
  console.log('r1' + p)
}
