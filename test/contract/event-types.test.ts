import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { EVENT_TYPES, EVENTS } from '../../src/events/types.ts'
import { replaceBlock } from '../support/documents.ts'
import type { Json } from '../support/json.ts'

const DOCUMENT = 'docs/events.md'
/** Longer lists of values are explained elsewhere. */
const MAX_LISTED = 16

const listValues = ({ enum: values, const: value, anyOf }: Json): string[] =>
  anyOf ? anyOf.flatMap(listValues) : (values ?? (value === undefined ? [] : [value]))

function describeMember(name: string, schema: Json, isRequired: boolean): string {
  const values = listValues(schema)
  const listed = values.length > 0 && values.length <= MAX_LISTED
  return `\`${name}${isRequired ? '' : '?'}\`${listed ? `: ${values.join(', ')}` : ''}`
}

/** The members of a detail with their values. */
function describeDetail(shape: z.ZodType): string {
  const { anyOf: [object, other] = [], ...schema }: Json = z.toJSONSchema(shape)
  const { properties = {}, required = [] }: Json = object ?? schema
  const members = Object.entries(properties).map(([name, member]) =>
    describeMember(name, member, required.includes(name)),
  )
  return `${members.join('; ')}${other && members.length > 0 ? ', or null' : ''}`
}

const describeSubject = (name: string): string =>
  name
    .replace(/^idp/, 'identityProvider')
    .replace(/Ids?(\??)$/, '$1')
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

test(`the types of events are those of ${DOCUMENT}, which -u rewrites`, async () => {
  const rows = EVENT_TYPES.map((type) => {
    const { description, subjects, detail } = EVENTS[type]
    return [`\`${type}\``, subjects.map(describeSubject).join(', '), describeDetail(detail), description]
  })
  const table = [['Type', 'Subjects', 'Detail', 'What happened'], ['---', '---', '---', '---'], ...rows]
  const text = replaceBlock(
    readFileSync(DOCUMENT, 'utf8'),
    'events',
    table.map((cells) => `| ${cells.join(' | ')} |`).join('\n'),
  )
  await expect(text).toMatchFileSnapshot(`../../${DOCUMENT}`)
})
