/**
 * Measures how long the worst inputs of each route block the event loop of a service. Prints a
 * table of the longest turns, in processor time. The inputs have the largest sizes that the limits
 * allow. Exits 1 when a turn takes more than 100 ms. `npm run check:stalls`; with `--only TEXT`
 * only inputs whose route or name contains it, and the puts that they read.
 */
import { parseArgs } from 'node:util'
import { held, MOST_TURN_MS } from '../../test/e2e/stalls.ts'
import { WORST_INPUTS } from '../../test/e2e/worst-inputs.ts'

const SERVER_ERROR = 500
const COLUMN = 8

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const { only = '' } = values
const inputs = WORST_INPUTS.filter(
  ({ route, name, isQuick }) =>
    `${route} ${name}`.includes(only) || (isQuick === true && route.endsWith('/results')),
)

let over = 0
console.log(`${'turn ms'.padStart(COLUMN)} ${'wall ms'.padStart(COLUMN)} status`)
for await (const { input, turnMs, wallMs, status } of held(inputs)) {
  const isOver = turnMs > MOST_TURN_MS || status >= SERVER_ERROR
  if (isOver) over++
  const figures = [turnMs, wallMs].map((ms) => String(Math.round(ms)).padStart(COLUMN)).join(' ')
  console.log(`${figures} ${status} ${isOver ? 'OVER ' : ''}${input.route}: ${input.name}`)
}
console.log(`${inputs.length} inputs, ${over} over ${MOST_TURN_MS} ms`)
process.exitCode = over === 0 ? 0 : 1
