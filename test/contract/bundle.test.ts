import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'acorn'
import { simple as visit } from 'acorn-walk'
import { describe, expect, test } from 'vitest'
import { ensureBuilt } from '../support/build.ts'

const listScripts = (): string[] =>
  readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join('dist', name))

/** The object literals of a script, by whether null is spread before a first spread. */
function countSpreads(path: string): { prefixed: number; other: string[] } {
  const code = readFileSync(path, 'utf8')
  const found = { prefixed: 0, other: [] as string[] }
  visit(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), {
    ObjectExpression: ({ properties: [first, ...others], start }) => {
      if (first?.type !== 'SpreadElement' || others.length === 0) return
      const { argument } = first
      if (argument.type === 'Literal' && argument.value === null) found.prefixed += 1
      else found.other.push(`${path}: ${code.slice(start, start + 60)}`)
    },
  })
  return found
}

describe('the bundle', () => {
  test('has no object literal that adds members after a spread at its start, which Node 20 evaluates slowly', () => {
    ensureBuilt()
    const counts = listScripts().map(countSpreads)
    expect(counts.flatMap(({ other }) => other)).toEqual([])
    expect(counts.reduce((sum, { prefixed }) => sum + prefixed, 0)).toBeGreaterThan(500)
  })
})
