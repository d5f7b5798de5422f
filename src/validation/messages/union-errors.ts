/**
 * Errors of `oneOf` and `anyOf` as one error each. Ajv lists what each alternative found wrong
 * before the error of the keyword itself, as if a value had to fit all of them: "must be a string"
 * and "must be a number" of the same place.
 */
import type { ErrorObject } from 'ajv'
import { pointerSegments } from '../../core/json/path.ts'
import { isObject, type SchemaObject } from '../tool-schema.ts'

/**
 * Bounds the schemas that are looked through for one union; in a larger one, its errors stay apart.
 */
const PLACES = 1_000

/**
 * The errors that a union error stands for, by alternative: one list for each, in the order of the
 * schema.
 */
export type Alternatives = readonly (readonly ErrorObject[])[]

export interface FoldedErrors {
  readonly errors: readonly ErrorObject[]
  /** Of each union error that stands for others. */
  readonly folded: ReadonlyMap<ErrorObject, Alternatives>
}

/**
 * Folds the errors inside of the alternatives of a union that nothing matched into the error of the
 * union.
 */
export function foldUnions(
  errors: readonly ErrorObject[],
  root: SchemaObject | boolean,
): FoldedErrors {
  const folded = new Map<ErrorObject, Alternatives>()
  if (!errors.some(isUnmatched)) return { errors, folded }
  const owners = new Owners(root)
  const kept: ErrorObject[] = []
  for (const error of errors) {
    if (isUnmatched(error)) {
      const alternatives = takeAlternatives(kept, error, owners.of(error.schema as unknown[]))
      if (alternatives.some((one) => one.length > 0)) folded.set(error, alternatives)
    }
    kept.push(error)
  }
  return { errors: kept, folded }
}

const isUnmatched = ({ keyword, params, schema }: ErrorObject): boolean =>
  (keyword === 'anyOf' || (keyword === 'oneOf' && params['passingSchemas'] === null)) &&
  Array.isArray(schema)

/** Takes the errors of the alternatives off the end of `kept`. */
function takeAlternatives(
  kept: ErrorObject[],
  union: ErrorObject,
  owners: ReadonlyMap<unknown, number>,
): Alternatives {
  const alternatives: ErrorObject[][] = (union.schema as unknown[]).map(() => [])
  for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
    const owner = isAtOrBelow(last.instancePath, union.instancePath)
      ? owners.get(last.parentSchema)
      : undefined
    if (owner === undefined) break
    alternatives[owner]?.unshift(last)
    kept.pop()
  }
  return alternatives
}

const isAtOrBelow = (path: string, above: string): boolean =>
  path === above || path.startsWith(`${above}/`)

/**
 * Finds which alternative of a union a subschema belongs to. References by JSON Pointer are
 * followed.
 */
class Owners {
  readonly #root: SchemaObject | boolean
  readonly #known = new Map<readonly unknown[], ReadonlyMap<unknown, number>>()

  constructor(root: SchemaObject | boolean) {
    this.#root = root
  }

  /** The position of the alternative, by subschema. Empty for a union that is too large. */
  of(union: readonly unknown[]): ReadonlyMap<unknown, number> {
    const known = this.#known.get(union) ?? this.#find(union)
    this.#known.set(union, known)
    return known
  }

  #find(union: readonly unknown[]): ReadonlyMap<unknown, number> {
    const owners = new Map<unknown, number>()
    for (const [position, alternative] of union.entries()) {
      const open: unknown[] = [alternative]
      while (open.length > 0) {
        const next = open.pop()
        if (!isContainer(next) || owners.has(next)) continue
        if (owners.size === PLACES) return new Map()
        owners.set(next, position)
        open.push(...this.#below(next))
      }
    }
    return owners
  }

  #below(schema: object): readonly unknown[] {
    const members: readonly unknown[] = Object.values(schema).slice(0, PLACES)
    const ref = isObject(schema) ? schema.$ref : undefined
    return typeof ref === 'string' ? [...members, this.#target(ref)] : members
  }

  /** Target of a JSON Pointer as a reference. Undefined for any other reference. */
  #target(ref: string): unknown {
    const segments = ref.startsWith('#') ? pointerSegments(ref.slice(1)) : undefined
    if (segments === undefined) return undefined
    let target: unknown = this.#root
    for (const name of segments) {
      if (!isContainer(target) || !Object.hasOwn(target, name)) return undefined
      target = (target as Record<string, unknown>)[name]
    }
    return target
  }
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
