// Types that the parts of the demo exchange: messages in Anthropic's shape, and outcomes of tool
// calls.

/** A JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }
/** Arguments of a tool call. */
export type Arguments = { readonly [key: string]: Json }

/** Block with a tool call. */
export interface ToolUse {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Arguments
}

/** Block with the result of a tool call. */
export interface ToolResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: boolean
}

/** Block of a message. */
export type Block = { readonly type: 'text'; readonly text: string } | ToolUse | ToolResult

/** Message of a transcript. */
export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly Block[]
}

/** Outcome of a tool, with the bytes that it gave. */
export type Outcome =
  | { readonly kind: 'text'; readonly bytes: Buffer }
  | { readonly kind: 'json'; readonly bytes: Buffer }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'suspension'; readonly reason: string; readonly input_schema: Json }

/** Failure of a tool call. */
export interface Failure {
  readonly kind: string
  readonly messages: readonly string[]
  readonly attempts: number
}
