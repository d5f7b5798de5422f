/**
 * The definition of the recall tool that a loop hands its model. Everything it admits, recall accepts.
 */
const SPAN = (what: string, minimum: number): object => ({
  type: 'object',
  description: what,
  properties: {
    start: { type: 'integer', minimum },
    end: { type: 'integer', minimum: 1 },
  },
})

const NAME = 'recall'
const DESCRIPTION =
  'Returns the exact text of an earlier tool result that the transcript shows only in part. Use the id and the lines that a note names. Without range or chars it starts at the beginning; a long answer ends with the call that continues it.'
const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    id: {
      type: 'string',
      minLength: 1,
      description: 'The id that the note names, or a handle such as r1.',
    },
    range: SPAN('Lines to return, numbered from 1, both ends included.', 1),
    chars: SPAN('Instead of range: characters to return, numbered from 0, the end excluded.', 0),
  },
  required: ['id'],
}

export type Provider = 'anthropic' | 'openai' | 'mcp'

export function recallTool(provider: Provider): object {
  switch (provider) {
    case 'anthropic':
      return { name: NAME, description: DESCRIPTION, input_schema: INPUT_SCHEMA }
    case 'openai':
      return {
        type: 'function',
        function: { name: NAME, description: DESCRIPTION, parameters: INPUT_SCHEMA },
      }
    case 'mcp':
      return { name: NAME, description: DESCRIPTION, inputSchema: INPUT_SCHEMA }
    default:
      return provider satisfies never
  }
}
