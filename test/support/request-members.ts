import type { JsonSchema } from '../../src/rest/openapi-schemas.ts'
import { generateValues } from './generated-values.ts'
import type { Contract } from './openapi.ts'

/** A value for a member of a body; a path such as `['address', 'locality']` leads to the member. */
export type Variation = { path: string[]; value: unknown; isAllowed: boolean }
/** The variations of each member, by its path with dots. */
export type Members = Map<string, Variation[]>

/** Rules that JSON Schema cannot express: of what it allows, only null and the examples are tried. */
const BEYOND_SCHEMA = ['jwks', 'claimMappings', 'textOverrides', 'documents', 'roles']

const findReference = ({ $ref, anyOf }: JsonSchema) => $ref ?? anyOf?.find(({ $ref }) => $ref)?.$ref

/** Lists the variations of a member and of what it contains: members of objects, items of arrays. */
function listVariations(path: string[], reference: JsonSchema, contract: Contract): [string, Variation[]][] {
  const schema = contract.resolve(findReference(reference) ?? '') ?? reference
  const isBeyondSchema = path.some((name) => BEYOND_SCHEMA.includes(name))
  const isTried = (value: unknown): boolean =>
    !isBeyondSchema || value === null || reference.examples?.includes(value) === true
  const own = generateValues(schema)
    .map((value) => ({ path, value, isAllowed: contract.isValid(reference, value) }))
    .filter(({ value, isAllowed }) => !isAllowed || isTried(value))
  const parts = isBeyondSchema
    ? []
    : Object.entries({ ...schema.properties, ...(schema.items && { 0: schema.items }) })
  return [
    [path.join('.'), own],
    ...parts.flatMap(([name, part]) => listVariations([...path, name], part, contract)),
  ]
}

/** Lists the variations of the members of an object schema, without those that only responses have. */
export const listMembers = (schema: JsonSchema, contract: Contract): Members =>
  new Map(
    Object.entries(schema.properties ?? {})
      .filter(([, property]) => property.readOnly !== true)
      .flatMap(([name, property]) => listVariations([name], property, contract)),
  )

/** Groups the variations that are sent together: one of each member, none of a member and of a part of it. */
function* groupVariations(members: Members): Generator<Variation[]> {
  const countBefore = (name: string): number =>
    [...members].reduce((sum, [other, list]) => sum + (name.startsWith(`${other}.`) ? list.length : 0), 0)
  const lists = [...members].map(([name, list]) => ({ list, start: countBefore(name) }))
  const end = Math.max(0, ...lists.map(({ list, start }) => start + list.length))
  for (let index = 0; index < end; index++)
    yield lists.flatMap(({ list, start }) => list[index - start] ?? [])
}

/** Replaces a member; objects and arrays on the way are created. */
export function setMember(body: unknown, [name = '', ...rest]: readonly string[], value: unknown): unknown {
  const members = (body ?? {}) as Record<string, unknown>
  const next = rest.length === 0 ? value : setMember(members[name], rest, value)
  return name === '0' ? [next] : { ...members, [name]: next }
}

/** Sends a body and returns the fields of the issues of the response; none when it is not rejected. */
export type Send = (body: unknown) => Promise<readonly string[]>

const isNamed = ({ path }: Variation, fields: readonly string[]): boolean =>
  fields.some((field) => `${field}.`.startsWith(`${path.join('.')}.`))

const omitKeys = ({ jwks: _, ...others }: { jwks?: unknown }): object => others

/**
 * What another member may be, or that it is absent, so that a value is accepted: an app type has its own redirect URIs,
 * and keys are given or referred to.
 */
const listOtherBases = (members: Members, base: object): unknown[] => [
  ...('jwks' in base ? [omitKeys(base)] : []),
  ...[...members].flatMap(([name, variations]) =>
    /type$/i.test(name)
      ? variations.filter(({ isAllowed }) => isAllowed).map(({ value }) => ({ ...base, [name]: value }))
      : [],
  ),
]

/**
 * Sends bodies with all these values, of several members at a time, and describes where the response names a
 * member with an allowed value, or does not name one with another value. Since members depend on each other,
 * a variation that looks wrong is sent again as the only one.
 */
export async function findDisagreements(members: Members, base: object, send: Send): Promise<string[]> {
  const found: string[] = []
  const isWrong = async (variation: Variation, body: unknown) =>
    isNamed(variation, await send(setMember(body, variation.path, variation.value))) === variation.isAllowed
  for (const group of groupVariations(members)) {
    const fields = await send(
      group.reduce<unknown>((body, { path, value }) => setMember(body, path, value), base),
    )
    for (const variation of group.filter((one) => isNamed(one, fields) === one.isAllowed)) {
      const bases = [base, ...(variation.isAllowed ? listOtherBases(members, base) : [])]
      let wrong = true
      for (const other of bases) wrong &&= await isWrong(variation, other)
      const { path, value, isAllowed } = variation
      const outcome = isAllowed ? 'allowed, but rejected' : 'not allowed, but accepted'
      if (wrong) found.push(`${path.join('.')}: ${JSON.stringify(value).slice(0, 100)} is ${outcome}`)
    }
  }
  return found
}

/** A few of the variations of each member: evenly spread over the allowed ones and over the others. */
export const sampleMembers = (members: Members, count: number): Members =>
  new Map(
    [...members].map(([name, variations]) => [
      name,
      [true, false].flatMap((isAllowed) => {
        const alike = variations.filter((variation) => variation.isAllowed === isAllowed)
        return alike.filter((_, index) => index % Math.ceil(alike.length / count) === 0)
      }),
    ]),
  )
