// What the demo's parts pass to each other: messages in Anthropic's shape, and what a tool call can come to.

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }
export type Arguments = { readonly [key: string]: Json }

export interface ToolUse {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: Arguments
}

export interface ToolResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: string
  readonly is_error?: boolean
}

export type Block = { readonly type: 'text'; readonly text: string } | ToolUse | ToolResult

export interface Message {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly Block[]
}

/** What a tool gave, as the bytes it gave. */
export type Outcome =
  | { readonly kind: 'text'; readonly bytes: Buffer }
  | { readonly kind: 'json'; readonly bytes: Buffer }
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'suspension'; readonly reason: string; readonly input_schema: Json }

export interface Failure {
  readonly kind: string
  readonly messages: readonly string[]
  readonly attempts: number
}
