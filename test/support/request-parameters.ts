import type { JsonSchema } from '../../src/rest/openapi-schemas.ts'
import { generateValues } from './generated-values.ts'
import { getContract } from './openapi.ts'
import { listOperations, systemDocument } from './openapi-document.ts'

export type Parameter = { name: string; in: 'path' | 'query' | 'header'; schema: JsonSchema }

/** Node rejects a request line and headers of more than 16 KB. */
const MAX_ENCODED_LENGTH = 3100

const contract = await getContract()

const resolve = (parameter: object): Parameter => {
  const { $ref } = parameter as { $ref?: string }
  const name = $ref?.split('/').at(-1)
  return (name === undefined ? parameter : systemDocument.components.parameters[name]) as Parameter
}

/** The operations with parameters of one kind, as rows of a table of tests. */
export const listParameters = (kind: Parameter['in']) =>
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
export function listTexts(
  { schema }: Parameter,
  more: readonly string[] = [],
): [text: string, isAllowed: boolean][] {
  const generated = [...generateValues(schema), ...generateValues(schema.items ?? {})].flatMap(toTexts)
  return [...new Set([...more, ...NUMBERS, ...generated])]
    .filter((text) => encodeURIComponent(text).length <= MAX_ENCODED_LENGTH)
    .map((text) => [text, contract.isValid(schema, toValue(schema, text))])
}
