// JSON texts from a schema of the OpenAPI document: mostly what it allows, at times almost.
import fc from 'fast-check'
import type { OpenApiDocument } from '../../src/http/docs/openapi-document.ts'
import { MEMBERS } from './domain.ts'
import { hostileJson, hostileText, quoted } from './hostile.ts'

/** One value in so many is any JSON at all. */
const SANE_WEIGHT = 24
const COMPONENT = '#/components/schemas/'
const MOST_ITEMS = 5

export interface SchemaNode {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly SchemaNode[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | SchemaNode
  readonly items?: SchemaNode
  readonly minimum?: number
  readonly maximum?: number
}

export class SchemaTexts {
  readonly #schemas: Readonly<Record<string, SchemaNode>>
  readonly #known = new Map<SchemaNode, fc.Arbitrary<string>>()

  constructor({ components }: OpenApiDocument) {
    this.#schemas = components.schemas as Readonly<Record<string, SchemaNode>>
  }

  /** The texts for a member of that name; the same arbitrary each time. */
  of(schema: SchemaNode, name = ''): fc.Arbitrary<string> {
    const named = MEMBERS.get(name)
    if (named !== undefined) return orHostile(named)
    const known = this.#known.get(schema) ?? orHostile(this.#fitting(schema))
    this.#known.set(schema, known)
    return known
  }

  #fitting(schema: SchemaNode): fc.Arbitrary<string> {
    const { $ref, anyOf, type, enum: values } = schema
    if ($ref !== undefined) {
      return this.of(this.#schemas[$ref.slice(COMPONENT.length)] as SchemaNode)
    }
    if ('const' in schema) return fc.constant(JSON.stringify(schema.const))
    if (values !== undefined) return fc.constantFrom(...values.map((one) => JSON.stringify(one)))
    if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => this.of(one)))
    const types = [type ?? []].flat()
    return types.length === 0
      ? hostileJson
      : fc.oneof(...types.map((one) => this.#typed(one, schema)))
  }

  #typed(type: string, schema: SchemaNode): fc.Arbitrary<string> {
    switch (type) {
      case 'object':
        return this.#object(schema)
      case 'array':
        return fc
          .array(this.of(schema.items ?? {}), { maxLength: MOST_ITEMS })
          .map((items) => `[${items}]`)
      case 'integer':
      case 'number':
        return integer(schema)
      case 'boolean':
        return fc.constantFrom('true', 'false')
      case 'null':
        return fc.constant('null')
      default:
        return fc.oneof(hostileText, fc.constantFrom('a', 'some text')).map(quoted)
    }
  }

  /** At times a member is missing, unknown or there twice, or there are two of which there may be one. */
  #object({ properties = {}, required = [], additionalProperties }: SchemaNode) {
    const names = Object.keys(properties)
    const all = names.map((name) => this.of(properties[name] as SchemaNode, name))
    const others =
      typeof additionalProperties === 'object' ? this.of(additionalProperties) : hostileJson
    const unknown = fc.tuple(hostileText, others).map(([name, json]) => member(name, json))
    return fc
      .record({
        all: fc.tuple(...all),
        present: fc.tuple(...names.map((name) => presence(required.includes(name)))),
        unknown,
        one: fc.nat(5),
        oddity: fc.nat(ODDITY),
      })
      .map(({ all, present, unknown, one, oddity }) => {
        const known = names.map((name, n) => member(name, all[n] ?? ''))
        const left = oddity === 0 ? [] : leftOut(names, one)
        const chosen = known.filter((_, n) =>
          left.includes(names[n] ?? '')
            ? false
            : present[n] || isOnlyOne(names[n] ?? '', names, one),
        )
        if (oddity === 1 || typeof additionalProperties === 'object') chosen.push(unknown)
        if (oddity === 2) chosen.push(...chosen.slice(0, 1))
        return `{${chosen.join(',')}}`
      })
  }
}

/** Once in so many objects each of the oddities that they may have. */
const ODDITY = 40
/** Of these members there has to be one, which no schema says. */
const ONE_OF: readonly (readonly string[])[] = [
  ['output', 'failure', 'suspension'],
  ['suspension', 'failure'],
  ['message', 'messages'],
  ['estimated_tokens', 'messages'],
]

const presence = (isRequired: boolean): fc.Arbitrary<boolean> =>
  fc.nat(isRequired ? ODDITY : 1).map((n) => n !== 1)

const groupOf = (names: readonly string[]): readonly string[] =>
  ONE_OF.find((group) => group.every((name) => names.includes(name))) ?? []

const leftOut = (names: readonly string[], one: number): readonly string[] =>
  groupOf(names).filter((name) => !isOnlyOne(name, names, one))

function isOnlyOne(name: string, names: readonly string[], one: number): boolean {
  const group = groupOf(names)
  return group.length > 0 && group[one % group.length] === name
}

const orHostile = (sane: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: SANE_WEIGHT, arbitrary: sane }, { weight: 1, arbitrary: hostileJson })

const member = (name: string, json: string): string => `${quoted(name)}:${json}`

function integer({
  minimum = -1,
  maximum = Number.MAX_SAFE_INTEGER,
}: SchemaNode): fc.Arbitrary<string> {
  const around = [minimum, minimum + 1, maximum - 1, maximum]
  return fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(...around, minimum + 10, minimum + 10_000).map(String),
    },
    { weight: 1, arbitrary: fc.constantFrom(minimum - 1, maximum + 1).map(String) },
  )
}
