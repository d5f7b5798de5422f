/** Definition of the recall tool for a model. Recall accepts all arguments that it allows. */
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

/** Model provider whose form a tool definition has. */
export type Provider = 'anthropic' | 'openai' | 'mcp'

/** Definition of the recall tool in the form of a provider. */
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
