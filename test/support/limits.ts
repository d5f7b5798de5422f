// Limits of a run context, small enough to be met.
import type { RunContext } from '../../src/runs/context.ts'

export const RUN_LIMITS: RunContext['limits'] = {
  maxJsonDepthLevels: 64,
  defaultVerbatimChars: 2_000,
  maxVerbatimChars: 100_000,
  maxResolvedBytes: 1024,
  maxReferences: 1,
  maxErrors: 1,
  maxToolsPerRun: 1_000,
  maxListBytes: 4_194_304,
  inlineBytes: 262_144,
}
