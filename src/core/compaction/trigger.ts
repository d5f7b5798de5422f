/**
 * Decides when to summarize: which of two thresholds applies, and whether an estimate is above it.
 *
 * A share of a known context window takes precedence over the absolute number, also when it is
 * larger. 0 is a setting, which fires on any request; null means not set. Vectors: trigger.
 */
import { PERCENT_MAX } from '../limits.ts'

/** Settings that decide: thresholds, the share of the window alone, or nothing. */
export type Trigger = 'Thresholds' | 'WindowShareOnly' | 'Off'

/** Settings of a trigger. */
export interface TriggerSettings {
  readonly auto_threshold_tokens: number | null
  /** Above 100 counts as 100. */
  readonly auto_threshold_percent: number | null
  /** In tokens; null when unknown. */
  readonly context_window: number | null
}

/** Answer of a trigger. */
export interface TriggerAnswer {
  readonly trigger: Trigger
  readonly threshold_tokens: number | null
  /** True when the estimate is above the threshold; an estimate that equals it does not fire. */
  readonly fires: boolean
}

/**
 * Decides whether an estimate fires. All numbers are integers of at least 0.
 *
 * @example decideTrigger({ auto_threshold_tokens: 10, auto_threshold_percent: null, context_window: null }, 11).fires // true
 */
export function decideTrigger(settings: TriggerSettings, estimatedTokens: number): TriggerAnswer {
  const trigger = triggerOf(settings)
  const threshold = thresholdOf(settings)
  const fires = threshold !== null && estimatedTokens > threshold
  return { trigger, threshold_tokens: threshold, fires }
}

function triggerOf(settings: TriggerSettings): Trigger {
  if (settings.auto_threshold_tokens !== null) return 'Thresholds'
  return settings.auto_threshold_percent === null ? 'Off' : 'WindowShareOnly'
}

/** Threshold in tokens. Null when none is set, and for a share of an unknown window. */
function thresholdOf(settings: TriggerSettings): number | null {
  const { auto_threshold_percent: percent, context_window: window } = settings
  if (percent !== null && window !== null) return shareOf(window, Math.min(percent, PERCENT_MAX))
  return settings.auto_threshold_tokens
}

/**
 * `floor(window * percent / 100)`, exact for every safe integer, since no intermediate product
 * exceeds the window.
 */
function shareOf(window: number, percent: number): number {
  const rest = window % PERCENT_MAX
  return ((window - rest) / PERCENT_MAX) * percent + Math.floor((rest * percent) / PERCENT_MAX)
}
