import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { listStatements } from '../../src/database/statement.ts'
import { listVariants } from '../support/list-statements.ts'
import { findTenantComparison } from '../support/tenant-comparison.ts'

const SOURCE = new URL('../../src/', import.meta.url)
for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }))
  if (file.endsWith('.sql.ts')) await import(/* @vite-ignore */ new URL(file, SOURCE).pathname)

/** Statements that name their tenant elsewhere: a part of the text, and the reason. */
const OTHERS: [part: string, reason: string][] = [
  ['= (SELECT $1', 'its plan must not depend on the tenant: src/users/index-planning.sql.ts'],
  ['string_to_array($1', 'the parameter is the list of the tenants whose tokens are checked'],
  ['AS "snapshot"', 'the snapshot is returned also when no row has changed'],
  ['AS "isListed"', 'it has a row for every origin, also for one that is not listed'],
  ['DO UPDATE SET "sendCount"', 'it counts in a row that it inserts, with the tenant'],
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
