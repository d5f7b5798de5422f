import { describe, expect, it } from 'vitest'
import { AjvValidator } from '../../../src/validation/ajv/ajv-validator.ts'
import { slice } from '../support.ts'

describe('a pattern that is one only outside of Unicode mode', () => {
  // Fault: it was judged by, and nothing was said of it; `\\A` is the letter A there.
  it('is warned about, and no other pattern is', async () => {
    const schema = {
      pattern: '\\Aabc\\z',
      properties: {
        x: { pattern: '^[a-z]+$' },
        y: { patternProperties: { '\\Z': true, '^x': true } },
      },
    }
    const warnings = await new AjvValidator().compile(slice(schema))
    expect(warnings.map(({ code, schema_path }) => [code, schema_path])).toEqual([
      ['non_unicode_pattern', '#/pattern'],
      ['non_unicode_pattern', '#/properties/y/patternProperties/\\Z'],
    ])
  })
})
