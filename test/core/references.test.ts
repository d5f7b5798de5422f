import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { handleNumber, handleOf } from '../../src/core/handles.ts'
import { parseJson } from '../../src/core/json/scan.ts'
import { JsonSlice } from '../../src/core/json/slice.ts'
import {
  addedBytes,
  findReferences,
  type HandleReason,
  isWhole,
  type Lookup,
  lookUp,
  pointerTo,
  type Reference,
  substitute,
  UNRESOLVED_REASONS,
  unfound,
} from '../../src/core/references.ts'
import { compact, docs, gaps, holds, nested, spaced } from '../support/json.ts'
import { isList, type Tree } from '../tree.ts'
import { member, toJson, vectors } from '../vectors.ts'

const slice = (text: string): JsonSlice => parseJson(Buffer.from(text))

/** Resolves `args` against a store of documents, r1, r2, …. */
function resolve(store: readonly (JsonSlice | HandleReason)[], args: JsonSlice) {
  const handles = store.map((_, i) => handleOf(i + 1))
  const references = findReferences(args)
  const found = new Map<Reference, Lookup>()
  for (const [handle, uses] of Map.groupBy(references, (reference) => reference.handle)) {
    const number = handleNumber(handle)
    const referent = number === undefined ? undefined : store[number - 1]
    const lookups =
      referent instanceof JsonSlice
        ? lookUp(uses, referent)
        : unfound(uses, referent ?? 'unknown_handle', handles)
    for (const lookup of lookups) found.set(lookup.reference, lookup)
  }
  const lookups = references.map((reference) => found.get(reference) as Lookup)
  const inserts = lookups.map((lookup) =>
    'value' in lookup ? { ...lookup, value: lookup.value.source } : lookup,
  )
  const result = Buffer.concat(substitute(args, inserts).parts as readonly Buffer[])
  expect(result.length).toBe(args.end - args.start + addedBytes(inserts))
  return {
    args: result.toString(),
    resolved: lookups.flatMap((l) => ('value' in l ? [l.reference.text.slice(1)] : [])),
    unresolved: lookups.flatMap((l) =>
      'reason' in l
        ? [
            {
              at: pointerTo(l.reference),
              reason: l.reason,
              missing: l.missing,
              available: l.available,
            },
          ]
        : [],
    ),
  }
}

const resolveText = (store: readonly string[], args: string) =>
  resolve(store.map(slice), slice(args))

function itemsOf(tree: Tree): readonly Tree[] {
  if (!isList(tree)) throw new TypeError('not an array')
  return tree
}

describe('the golden vectors', () => {
  it('of resolve are met', () => {
    const wrong = [...vectors('resolve')]
      .filter(({ input, expected }) => {
        const store = itemsOf(member(input, 'store')).map(toJson)
        const { args, resolved } = resolveText(store, toJson(member(input, 'params')))
        const wanted = toJson(member(expected, 'params'))
        return args !== wanted || JSON.stringify(resolved) !== toJson(member(expected, 'resolved'))
      })
      .map(({ name }) => name)
    expect(wrong).toEqual([])
  })
})

describe('references', () => {
  it.each([
    [
      '{"outer":{"inner":[["$r1.id",{"k":"$r1"}],"x"]}}',
      '{"outer":{"inner":[["chiller-6",{"k":{"id":"chiller-6"}}],"x"]}}',
    ],
    ['"$r1.id"', '"chiller-6"'],
    ['"$r1"', '{"id":"chiller-6"}'],
    ['["$r1#/id","$r1#","$r1.id"]', '["chiller-6",{"id":"chiller-6"},"chiller-6"]'],
    ['["\\u0024r1.id","$\\u00721\\u002eid"]', '["chiller-6","chiller-6"]'],
  ])('in %s resolve wherever they stand', (args, resolved) => {
    expect(resolveText(['{"id":"chiller-6"}'], args).args).toBe(resolved)
  })

  it('are listed in the order of the document, repeats included', () => {
    const { resolved } = resolveText(['{"a":1}', '2'], '{"z":"$r2","a":["$r1.a","$r2","$r1#/a"]}')
    expect(resolved).toEqual(['r2', 'r1.a', 'r2', 'r1#/a'])
  })

  it('are whole strings only, so that prices and shell text stay as they are', () => {
    const args = JSON.stringify({
      cmd: "awk '{print $1}' f | grep '$r1'",
      price: '$1.2M',
      m: 'US$r1',
      t: '$r1 and more',
      n: 'costs $0.01',
      home: '$HOME',
      regexp: '$&',
      spaced: ' $r1',
      ended: '$r1\n',
      upper: '$R1',
      bare: 'r1',
      only: '$r',
      dollar: '$',
      empty: '',
      dash: '$r1-',
    })
    const { args: got, resolved, unresolved } = resolveText(['"SECRET"'], args)
    expect(got).toBe(args)
    expect(resolved).toEqual([])
    expect(unresolved).toEqual([])
  })

  it('are never keys', () => {
    const args = '{"$r1":{"$r1.a":"$r1"}}'
    expect(resolveText(['1'], args).args).toBe('{"$r1":{"$r1.a":1}}')
  })

  it('are resolved in one pass: what is put in pulls nothing in', () => {
    expect(resolveText(['"$r2"', '"secret"'], '{"x":"$r1"}').args).toBe('{"x":"$r2"}')
    expect(resolveText(['["$r1"]'], '["$r1"]').args).toBe('[["$r1"]]')
  })

  it('put in dollar patterns literally', () => {
    expect(resolveText(['"$& $1 $$ $\'"'], '["$r1"]').args).toBe('["$& $1 $$ $\'"]')
  })

  it('reach own members only, whatever their names', () => {
    const args =
      '{"x":"$r1.__proto__","y":"$r1.constructor.name","z":"$r1.a.toString","w":"$r1.a.b.toFixed","l":"$r1.a.hasOwnProperty"}'
    const none = resolveText(['{"a":{"b":1}}'], args)
    expect(none.args).toBe(args)
    expect(none.resolved).toEqual([])
    const own = '{"constructor":{"name":"F1 team"},"prototype":"p","__proto__":1}'
    expect(resolveText([own], '["$r1.constructor.name","$r1.__proto__"]').args).toBe(
      '["F1 team",1]',
    )
  })

  it('split their path at every dot, empty segments included', () => {
    const store = ['{"a.b":1,"a":{"b":2},"":{"":3},"x":{"y.z":4}}']
    const args = '{"p":"$r1.a.b","q":"$r1.x.y.z","r":"$r1..","s":"$r1.","t":"$r1#/x/y.z"}'
    expect(resolveText(store, args).args).toBe('{"p":2,"q":"$r1.x.y.z","r":3,"s":{"":3},"t":4}')
  })

  it('take an index as a usize is read', () => {
    const args =
      '["$r1.01","$r1.+1","$r1.-1","$r1.1e0","$r1.1.0","$r1.18446744073709551616","$r1. 1"]'
    expect(resolveText(['["a","b","c"]'], args).args).toBe(
      '["b","b","$r1.-1","$r1.1e0","$r1.1.0","$r1.18446744073709551616","$r1. 1"]',
    )
  })

  it('may name members with line ends and quotes', () => {
    expect(resolveText(['{"a\\nb":1,"\\"":2}'], '["$r1.a\\nb","$r1.\\""]').args).toBe('[1,2]')
  })

  it('copy the bytes of the value and leave those of the arguments', () => {
    const value = '{ "10" : 1.0 ,\n "2":12345678901234567890, "2":"\\u0041\\ud83d" }'
    expect(resolveText([value], ' { "a" : "$r1" , "b":1e400 , "c":"\\/" } ').args).toBe(
      `{ "a" : ${value} , "b":1e400 , "c":"\\/" }`,
    )
  })

  it('in any document leave all the rest as it came', () => {
    holds(
      fc.property(docs(), gaps, docs(), (doc, between, value) => {
        const source = spaced({ items: [doc, '"$r1"', doc] }, between)
        const left = spaced({ items: [doc, compact(value), doc] }, between)
        expect(resolveText([compact(value)], source).args).toBe(left)
      }),
    )
  })

  it('are found at the greatest depth', () => {
    const args = compact(nested('"$r1"', 1024))
    expect(resolveText(['1'], args).args).toBe(args.replace('"$r1"', '1'))
    expect(findReferences(slice(args)).map(pointerTo)[0]).toBe('/0'.repeat(1024))
  })
})

describe('looking for references', () => {
  // Each level was once read to its end before the next: 40 GB, far past the time a test has.
  it('takes time by the size of the arguments, however deep', () => {
    const args = slice(compact(nested({ items: [`"${'x'.repeat(40_000_000)}"`, '"$r1"'] }, 1_000)))
    expect(findReferences(args)).toHaveLength(1)
  })
})

describe('a reference that does not resolve', () => {
  it('stays as it is and says what there is instead', () => {
    const args =
      '{"a/b":["$r3"],"~":"$r1.rows.5","c":{"d":"$r1.x"},"e":"$r2.a","f":"$r1#rows","g":"$r01","h":"$r0.a"}'
    const { args: got, resolved, unresolved } = resolveText(['{"rows":[1,2]}', '"text"'], args)
    expect(got).toBe(args)
    expect(resolved).toEqual([])
    const unknown = { reason: 'unknown_handle', missing: undefined, available: ['r1', 'r2'] }
    expect(unresolved).toEqual([
      { at: '/a~1b/0', ...unknown },
      { at: '/~0', reason: 'path_not_found', missing: '5', available: ['0..1'] },
      { at: '/c/d', reason: 'path_not_found', missing: 'x', available: ['rows'] },
      { at: '/e', reason: 'path_not_found', missing: 'a', available: [] },
      { at: '/f', reason: 'path_not_found', missing: '#rows', available: [] },
      { at: '/g', ...unknown },
      { at: '/h', ...unknown },
    ])
  })

  it('keeps no other from resolving', () => {
    const args = '["$r1#rows","$r1.rows.0","$r1.x","$r1#/rows/1"]'
    expect(resolveText(['{"rows":[1,2]}'], args).args).toBe('["$r1#rows",1,"$r1.x",2]')
  })

  it('for what it stands for says so, whatever its path', () => {
    for (const reason of UNRESOLVED_REASONS) {
      if (reason === 'path_not_found') continue
      const { args, unresolved } = resolve([reason], slice('"$r1.a"'))
      expect(args).toBe('"$r1.a"')
      const available = reason === 'unknown_handle' ? ['r1'] : []
      expect(unresolved).toEqual([{ at: '', reason, missing: undefined, available }])
    }
  })

  it('is told in well-formed strings', () => {
    const { unresolved } = resolveText(['{}'], '{"\\ud83d":["$r1.\\ude00","$r1#\\ude00"]}')
    expect(unresolved).toEqual([
      { at: '/\ufffd/0', reason: 'path_not_found', missing: '\ufffd', available: [] },
      { at: '/\ufffd/1', reason: 'path_not_found', missing: '#\ufffd', available: [] },
    ])
  })
})

describe('the limits of references', () => {
  it('more of them than may be are refused, with the limit', () => {
    const args = slice('["$r1","$r1","$r1"]')
    expect(findReferences(args, 3)).toHaveLength(3)
    expect(() => findReferences(args, 2)).toThrowError(
      expect.objectContaining({
        code: 'over_limit',
        message: expect.stringContaining('more than 2 references'),
        facts: { limit: 'references', value: 2 },
      }),
    )
  })

  it('a pointer shows only the start of a very long name', () => {
    const [found] = findReferences(slice(`{"${'n'.repeat(100_000)}":"$r1"}`))
    const pointer = pointerTo(found as Reference)
    expect(pointer).toMatch(/^\/n+…$/)
    expect(pointer.length).toBeLessThan(10_000)
  })

  it('a pointer shows a name of 256 bytes whole, however it is written', () => {
    const shown = (inside: string): string => {
      const [found] = findReferences(slice(`{"${inside}":"$r1"}`))
      return pointerTo(found as Reference)
    }
    expect(shown('n'.repeat(256))).toBe(`/${'n'.repeat(256)}`)
    expect(shown('n'.repeat(257))).toBe(`/${'n'.repeat(256)}…`)
    expect(shown('\\u006e'.repeat(256))).toBe(`/${'n'.repeat(256)}`)
    expect(shown(`é${'n'.repeat(253)}é`)).toBe(`/é${'n'.repeat(253)}…`)
  })

  it('one without a path stands for the whole', () => {
    const found = findReferences(slice('["$r1","$r1#","$r1.a","$r1#/a","$r1#a"]'))
    expect(found.map(isWhole)).toEqual([true, true, false, false, false])
  })
})
