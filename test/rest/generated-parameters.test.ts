import { describe, expect } from 'vitest'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import type { JsonSchema } from '../../src/rest/openapi-schemas.ts'
import { callDirectly } from '../support/direct-rest.ts'
import { test } from '../support/fixtures.ts'
import { generateValues } from '../support/generated-values.ts'
import { getContract } from '../support/openapi.ts'
import { listOperations, systemDocument } from '../support/openapi-document.ts'
import { hasServices } from '../support/services.ts'

type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema }

/** Node rejects a request line and headers of more than 16 KB. */
const MAX_ENCODED_LENGTH = 3100

const contract = await getContract()

const resolve = (parameter: object): Parameter => {
  const { $ref } = parameter as { $ref?: string }
  const name = $ref?.split('/').at(-1)
  return (name === undefined ? parameter : systemDocument.components.parameters[name]) as Parameter
}

/** The operations with parameters of one kind, as rows of a table of tests. */
const listParameters = (kind: Parameter['in']) =>
  listOperations(systemDocument).flatMap(({ operation, method, path }) => {
    const parameters = operation.parameters.map(resolve).filter((parameter) => parameter.in === kind)
    const row = { method: method.toUpperCase(), path, parameters }
    return parameters.length > 0 ? [[operation.operationId, row] as const] : []
  })

/** The value that the text of a parameter stands for (style form, not exploded). */
function toValue({ type }: JsonSchema, text: string): unknown {
  if (type === 'array') return text.split(',')
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  if (type === 'integer' && /^(0|-?[1-9]\d*)$/.test(text)) return Number(text)
  return text
}

function toTexts(value: unknown): string[] {
  if (Array.isArray(value)) return [value.join(',')]
  return typeof value === 'string' || typeof value === 'number' ? [`${value}`] : []
}

/** Spellings of numbers, some of which other languages read. */
const NUMBERS = ['0x1', '01', '1.0', '+1', '-1', '1e0']

/** Lists generated texts for a parameter, and more, each with whether the document allows it. */
function listTexts(
  { schema }: Parameter,
  more: readonly string[] = [],
): [text: string, isAllowed: boolean][] {
  const generated = [...generateValues(schema), ...generateValues(schema.items ?? {})].flatMap(toTexts)
  return [...new Set([...more, ...NUMBERS, ...generated])]
    .filter((text) => encodeURIComponent(text).length <= MAX_ENCODED_LENGTH)
    .map((text) => [text, contract.isValid(schema, toValue(schema, text))])
}

const toTarget = (path: string, tenant: string) => (path.startsWith('/tenants') ? SYSTEM_TENANT : tenant)
const isNamed = (name: string, fields: readonly string[]) =>
  fields.some((field) => `${field}.`.startsWith(`${name}.`))
/** Cursors are rejected by the list: only a response has one. */
const isCursor = ({ schema }: Parameter) => schema.format === 'cursor'

describe.runIf(hasServices)('a query', () => {
  test.for(listParameters('query'))(
    'of %s is rejected for exactly the parameters that the document rejects',
    async ([, { method, path, parameters }], { tenant, person }) => {
      const target = path
        .replace('{userId}', person.id)
        .replace('{organizationId}', 'organization_01m7xeb1sbendby702xerkqv3p')
        .replace('{managementRoleId}', 'mgmtrole_01m7xeb1sbendby702xerkqv3p')
        .replace('{appRoleId}', 'role_01m7xeb1sbendby702xerkqv3p')
        .replace('{groupId}', 'group_01m7xeb1sbendby702xerkqv3p')
        .replace('{webhookId}', 'webhook_01m7xeb1sbendby702xerkqv3p')
        .replace('{bulkJobId}', 'bulkjob_01m7xeb1sbendby702xerkqv3p')
      // The unknown parameter keeps the operation from being executed.
      const findFields = async (query: Record<string, string>): Promise<string[]> => {
        const search = new URLSearchParams({ ...query, unknownParameter: '1' })
        const { status, body } = await callDirectly(toTarget(path, tenant), [method, `${target}?${search}`])
        const fields = body.fields.map(({ field }: { field: string }) => field)
        expect([status, fields]).toEqual([400, expect.arrayContaining(['unknownParameter'])])
        return fields
      }
      const lists = parameters
        .filter((parameter) => !isCursor(parameter))
        .map((parameter) => ({ name: parameter.name, texts: listTexts(parameter) }))
      const found: string[] = []
      for (let index = 0; index < Math.max(0, ...lists.map(({ texts }) => texts.length)); index++) {
        const tried = lists.flatMap(({ name, texts }) => {
          const [text, isAllowed] = texts[index] ?? []
          return text === undefined ? [] : [{ name, text, isAllowed }]
        })
        const fields = await findFields(Object.fromEntries(tried.map(({ name, text }) => [name, text])))
        for (const { name, text, isAllowed } of tried)
          if (
            isNamed(name, fields) === isAllowed &&
            isNamed(name, await findFields({ [name]: text })) === isAllowed
          )
            found.push(
              `${name}=${text.slice(0, 80)} is ${isAllowed ? 'allowed, but rejected' : 'not allowed, but accepted'}`,
            )
      }
      expect(found).toEqual([])
      for (const { name } of parameters.filter(isCursor)) {
        const answer = await callDirectly(toTarget(path, tenant), [method, `${target}?${name}=x`])
        expect([answer.status, answer.body.fields[0].field]).toEqual([400, name])
      }
    },
  )
})

describe.runIf(hasServices)('the header Idempotency-Key', () => {
  test('is rejected exactly where the document rejects it', async ({ tenant }) => {
    const [, operation] = listParameters('header').find(([id]) => id === 'createUser') ?? []
    const [parameter] = operation?.parameters ?? []
    if (!parameter) throw new Error('no header')
    const long = 'k'.repeat(255)
    const quoted = [
      '"k"',
      '"a b"',
      '"a\\"b"',
      '"a\\b"',
      '"',
      '"k',
      'a"b',
      '""',
      '"k";p=1',
      `"${long}"`,
      `"${long}k"`,
    ]
    const texts = [...listTexts(parameter, [...quoted, long, `${long}k`])]
    const found: string[] = []
    for (const [key, isAllowed] of texts.filter(
      ([text]) => /^[\x20-\x7e]*$/.test(text) && text === text.trim(),
    )) {
      // The unknown member keeps the operation from being executed.
      const request: Parameters<typeof callDirectly>[1] = ['POST', '/users', { unknownMember: 1 }]
      const { body } = await callDirectly(tenant, request, { 'idempotency-key': key })
      if ((body.fields[0]?.field === 'Idempotency-Key') === isAllowed) found.push(key)
    }
    expect(found).toEqual([])
  })
})

/** Some of the texts that fit into a path. */
const samplePathTexts = (parameter: Parameter): string[] =>
  listTexts(parameter)
    .map(([text]) => text)
    .filter((text) => /^[\w.-]+$/.test(text))
    .filter((_, index) => index % 4 === 0)

describe.runIf(hasServices)('a path', () => {
  test.for(listParameters('path').filter(([, { method }]) => method === 'GET'))(
    'of %s is answered with 404 for what the document rejects, and never with 400',
    async ([, { method, path, parameters }], { tenant }) => {
      for (const { name, schema } of parameters)
        for (const text of samplePathTexts({ name, in: 'path', schema })) {
          const target = path.replaceAll(/\{(\w+)\}/g, (_all, other: string) => (other === name ? text : 'x'))
          const { status } = await callDirectly(toTarget(path, tenant), [method, target])
          expect([target, status]).toEqual([target, 404])
        }
    },
  )
})
