import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** What grows: at the level of a module everything that starts empty, and caches anywhere. */
const GROWING =
  /^(?:export )?(?:const|let) (\w+)[^=\n]*=\s*(?:new (?:Map|Set)(?:<.*>)?\(\)|new Counts\b|createCache\b|memoizeText\()/gm
const CACHES = /^ *(?:export )?(?:const|let) (\w+)[^=\n]*=\s*new LRUCache\b/gm

const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
  .map((file) => join('src', file))

describe('docs/process-memory.md', () => {
  test('has a row for each thing that a process keeps and that grows', () => {
    const kept = SOURCES.flatMap((file) => {
      const text = readFileSync(file, 'utf8')
      return [GROWING, CACHES].flatMap((pattern) =>
        [...text.matchAll(pattern)].map(([, name]) => `${file} ${name}`),
      )
    })
    const rows = [...readFileSync('docs/process-memory.md', 'utf8').matchAll(/^\| `(.+?)` \| `(.+?)` \|/gm)]
    expect(rows.map(([, file, name]) => `${file} ${name}`).sort()).toEqual(kept.sort())
    expect(kept.length).toBeGreaterThan(30)
  })
})
