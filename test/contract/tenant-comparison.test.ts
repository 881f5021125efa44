import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { listStatements } from '../../src/database/statement.ts'
import { listVariants } from '../support/list-statements.ts'

/** The text before a parenthesis that has a query of WITH, a derived table or a part of a UNION. */
const BEFORE_QUERY = /(^|\bAS|\bMATERIALIZED|\bFROM|\bJOIN|\bLATERAL|\bUNION|\bUNION ALL) *$/
const QUERY = /^[ (]*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/

/** The text after a parenthesis, up to the one that closes it. */
function readParenthesis(text: string, start: number): string {
  let depth = 1
  let end = start
  for (; depth > 0 && end < text.length; end++) {
    if (text[end] === '(') depth++
    if (text[end] === ')') depth--
  }
  return text.slice(start, end - 1)
}

/**
 * The queries of a statement, each without its expressions in parentheses: itself, those of WITH, and derived tables.
 * A proxy that looks for the tenant of a statement reads these.
 */
function readQueries(text: string): string[] {
  const queries: string[] = []
  let own = ''
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '(') {
      own += text[i]
      continue
    }
    const inner = readParenthesis(text, i + 1)
    if (BEFORE_QUERY.test(own) && QUERY.test(inner)) queries.push(...readQueries(inner))
    own += '()'
    i += inner.length + 1
  }
  return [own, ...queries]
}

const INSERT_OF_TENANT = /^ *INSERT INTO "\w+"(?: AS \w+)? \("tenantId"[^)]*\) *(?:SELECT|VALUES \() *\$1\b/

/**
 * How a statement names its tenant, `$1`: its rows have it as `"tenantId"`, or it requires the tenant `system` and is
 * about all tenants. Null when a reader of the text finds neither.
 */
function findTenantComparison(statement: string): 'tenant' | 'all tenants' | null {
  const text = statement.replace(/--.*$/gm, '').replace(/\s+/g, ' ').replaceAll('$1::text', '$1')
  if (INSERT_OF_TENANT.test(text)) return 'tenant'
  const queries = readQueries(text)
  if (queries.some((query) => /"tenantId" = \$1(?!\d)/.test(query))) return 'tenant'
  return queries.some((query) => /WHERE \$1 = 'system'/.test(query)) ? 'all tenants' : null
}

const SOURCE = new URL('../../src/', import.meta.url)
for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.sql.ts')) await import(/* @vite-ignore */ new URL(file, SOURCE).pathname)

/** Statements that name their tenant elsewhere: a part of the text, and the reason. */
const OTHERS: [part: string, reason: string][] = [
  ['= (SELECT $1', 'its plan must not depend on the tenant: src/users/list/index-planning.sql.ts'],
  ['AS "snapshot"', 'the snapshot is returned also when no row has changed'],
  ['AS "isListed"', 'it has a row for every origin, also for one that is not listed'],
  ['DO UPDATE SET "sendCount"', 'it counts in a row that it inserts, with the tenant'],
  ['granted."scope"', 'it has a row for each given id that rows of the tenant permit'],
  ['INSERT INTO "SecondFactorGuess"', 'it has a row also when no guess was counted'],
]

const toLine = ({ text }: { text: string }) => text.replace(/\s+/g, ' ').trim()

describe('a statement', () => {
  test('compares "tenantId" with its first parameter where its rows are read, or requires the tenant system', () => {
    const unclear = [...listStatements(), ...listVariants()]
      .filter(({ text }) => findTenantComparison(text) === null)
      .map(toLine)
    const unlisted = unclear.filter((line) => !OTHERS.some(([part]) => line.includes(part)))
    expect(unlisted).toEqual([])
    for (const [part] of OTHERS)
      expect([part, unclear.filter((line) => line.includes(part)).length]).not.toEqual([part, 0])
  })
})
