/**
 * When to summarize: which of two thresholds counts, and whether an estimate is past it.
 *
 * Two settings make three states. A share of a known context window wins over the absolute number, also when it is the
 * larger; 0 is a setting (it fires on any request), only null is none. Vectors: trigger.
 */
import { PERCENT_MAX } from '../limits.ts'

export type Trigger = 'Thresholds' | 'WindowShareOnly' | 'Off'

export interface TriggerSettings {
  readonly auto_threshold_tokens: number | null
  /** Above 100 counts as 100. */
  readonly auto_threshold_percent: number | null
  /** In tokens; null when nobody knows it. */
  readonly context_window: number | null
}

export interface TriggerAnswer {
  readonly trigger: Trigger
  readonly threshold_tokens: number | null
  /** True when the estimate is above the threshold; an estimate that equals it does not fire. */
  readonly fires: boolean
}

/** Expects whole numbers of at least 0. */
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

/** Null when neither is set, and for a share of a window that nobody knows. */
function thresholdOf(settings: TriggerSettings): number | null {
  const { auto_threshold_percent: percent, context_window: window } = settings
  if (percent !== null && window !== null) return shareOf(window, Math.min(percent, PERCENT_MAX))
  return settings.auto_threshold_tokens
}

/** `floor(window * percent / 100)`, exact for every safe integer: no product is larger than the window. */
function shareOf(window: number, percent: number): number {
  const rest = window % PERCENT_MAX
  return ((window - rest) / PERCENT_MAX) * percent + Math.floor((rest * percent) / PERCENT_MAX)
}
