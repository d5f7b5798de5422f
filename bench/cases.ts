/**
 * Every case, in the order in which they are run and shown.
 */
import type { Case } from './case.ts'
import { growthCases } from './cases/growth.ts'
import { intakeCases } from './cases/intake.ts'
import { loopCases } from './cases/loop.ts'
import { putCases } from './cases/puts.ts'
import { resolveCases } from './cases/resolve.ts'
import { streamCases } from './cases/streams.ts'
import { textCases } from './cases/text.ts'
import type { Plan } from './plan.ts'

export function allCases(plan: Plan): readonly Case[] {
  return [
    ...putCases(),
    ...loopCases(),
    ...intakeCases(),
    ...textCases(plan),
    ...streamCases(plan),
    ...resolveCases(),
    ...growthCases(plan),
  ]
}
