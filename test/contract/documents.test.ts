import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  findBroken,
  listFiles,
  readAnchors,
  readDocumentReferences,
  readLinks,
  readSourceNames,
  readTestColumn,
} from '../support/documents.ts'

describe('the documents', () => {
  const files = listFiles()
  const documents = files.filter((file) => file.endsWith('.md'))
  const sources = files.filter((file) => /^(src|test|tools)\/.*\.tsx?$/.test(file))
  const readAll = <Item>(paths: string[], read: (file: string, text: string) => Item[]): Item[] =>
    paths.flatMap((file) => read(file, readFileSync(file, 'utf8')))

  test('link to files and headings that exist', () => {
    const links = readAll(documents, readLinks)
    expect(links.length).toBeGreaterThan(100)
    expect(findBroken(links)).toEqual([])
  })

  test('name source files that exist', () => {
    // Decisions and the changelog name files of their time.
    const current = documents.filter((file) => !/^CHANGELOG|decisions\/\d/.test(file))
    const names = readAll(current, readSourceNames)
    expect(names.length).toBeGreaterThan(100)
    expect(names.filter(({ to }) => !files.some((file) => `/${file}`.endsWith(`/${to}`)))).toEqual([])
  })

  test('exist when src/ or test/ refers to them', () => {
    // This file refers to a document that does not exist.
    const others = sources.filter((file) => file !== 'test/contract/documents.test.ts')
    expect(findBroken(readAll(others, readDocumentReferences))).toEqual([])
  })

  test('name existing test files in the table of threats', () => {
    const references = readAll(['docs/security.md'], readTestColumn)
    expect(references.length).toBeGreaterThan(50)
    expect(findBroken(references)).toEqual([])
  })

  test.for([
    ['docs/security.md', /^\| (\d+)\w? \|/gm, 60],
    ['docs/decisions/README.md', /^\| \[(\d{4})\]/gm, 50],
  ] as const)('number each row of a table in %s once', ([file, pattern, atLeast]) => {
    const numbers = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([row]) => row)
    expect(numbers.length).toBeGreaterThan(atLeast)
    expect(numbers.filter((row, index) => numbers.indexOf(row) !== index)).toEqual([])
  })

  test('list every decision in order', () => {
    const listed = [...readFileSync('docs/decisions/README.md', 'utf8').matchAll(/^\| \[\d{4}\]\((.+?)\)/gm)]
    const decisions = files.flatMap((file) => /^docs\/decisions\/(\d{4}-.*)$/.exec(file)?.[1] ?? [])
    expect(listed.map(([, file]) => file)).toEqual(decisions.sort())
  })
})

describe('a broken reference', () => {
  const read = (file: string) => (file === 'docs/api.md' ? '# The API\n\n## Errors\n\n## Errors\n' : null)

  test('is found when the file of a link does not exist', () => {
    const links = readLinks('README.md', 'See [the API](docs/api.md) and\n[the rest](docs/rest.md "title").')
    expect(findBroken(links, read)).toEqual(['README.md:2 refers to docs/rest.md, which does not exist'])
  })

  test('is found when the heading of a link does not exist', () => {
    const text = '[one](api.md#errors) [two](api.md#errors-1) [three](api.md#events)'
    expect(findBroken(readLinks('docs/README.md', text), read)).toEqual([
      'docs/README.md:1 refers to api.md#events, which has no such heading',
    ])
  })

  test('is found in a comment of a source file', () => {
    const references = readDocumentReferences(
      'src/app.ts',
      '// See docs/api.md#errors.\n// See docs/nothing.md.',
    )
    expect(findBroken(references, read)).toEqual([
      'src/app.ts:2 refers to /docs/nothing.md, which does not exist',
    ])
  })

  test('is found in the last column of a table', () => {
    const references = readTestColumn(
      'docs/security.md',
      '| 1 | `test/a.ts` | `test/security/gone.test.ts` |',
    )
    expect(findBroken(references, () => null)).toEqual([
      'docs/security.md:1 refers to /test/security/gone.test.ts, which does not exist',
    ])
  })

  test('is not found in code', () => {
    const text = 'Write `[x](gone.md)`:\n\n```md\n[x](gone.md)\n```\n'
    expect(readLinks('README.md', text)).toEqual([])
  })
})

describe('an anchor', () => {
  test('is the heading in lower case with hyphens', () => {
    expect([...readAnchors('# The *API*: v1\n## `GET /users`\n## [A link](x.md)\n')]).toEqual([
      'the-api-v1',
      'get-users',
      'a-link',
    ])
  })
})
