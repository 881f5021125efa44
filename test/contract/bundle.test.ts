import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'acorn'
import { simple as visit } from 'acorn-walk'
import { describe, expect, test } from 'vitest'
import { ensureBuilt } from '../support/build.ts'

/** The scripts of the server and the commands. */
const listScripts = (): string[] =>
  readdirSync('dist', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js') && !name.startsWith('console/'))
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

/** The files of the repository that a script was made of, by its source map. */
const readSources = (path: string): string[] =>
  JSON.parse(readFileSync(`${path}.map`, 'utf8')).sources.map((source: string) =>
    source.replace(/^(\.\.\/)+/, ''),
  )

describe('the bundle', () => {
  test('has the development routes in a file that nothing imports at its start', () => {
    ensureBuilt()
    const scripts = listScripts()
    const withRoutes = scripts.filter((path) =>
      readSources(path).some((source) => /^src\/dev\/.*\.(routes|pages)\.tsx?$/.test(source)),
    )
    expect(withRoutes).toEqual([expect.stringMatching(/^dist\/chunks\/development\.routes-\w+\.js$/)])
    const [name] = withRoutes.map((path) => basename(path))
    const importing = scripts.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line.includes(name as string) && !line.startsWith('//#')),
    )
    expect(importing).toEqual([expect.stringMatching(/await import\("\.\/development\.routes-/)])
  })

  test('has no object literal that adds members after a spread at its start, which Node 20 evaluates slowly', () => {
    ensureBuilt()
    const counts = listScripts().map(countSpreads)
    expect(counts.flatMap(({ other }) => other)).toEqual([])
    expect(counts.reduce((sum, { prefixed }) => sum + prefixed, 0)).toBeGreaterThan(500)
  })
})
