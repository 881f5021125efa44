import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  findBroken,
  listFiles,
  readAnchors,
  readDocumentReferences,
  readIdentifiers,
  readLinks,
  readPathNames,
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

  // Decisions and the changelog name what existed at their time.
  const current = documents.filter((file) => !/^CHANGELOG|decisions\/\d/.test(file))

  test('name files and folders that exist', () => {
    const folders = new Set([
      ...files.map((file) => file.split('/')[0] as string),
      ...sources.map((file) => file.split('/')[1] as string),
    ])
    const names = readAll(current, (file, text) => readPathNames(file, text, folders))
    expect(names.length).toBeGreaterThan(200)
    const paths = `\n${files.map((file) => `/${file}`).join('\n')}\n/src/generated\n`
    const isKnown = (name: string) => paths.includes(`/${name}\n`) || paths.includes(`/${name}/`)
    expect(names.filter(({ to }) => !isKnown(to))).toEqual([])
  })

  test('name functions and members that exist', () => {
    const texts = files.filter((file) => /\.(tsx?|mjs|prisma|graphql)$|^package\.json$/.test(file))
    const words = new Set(readAll(texts, (_, text) => text.match(/\w+/g) ?? []))
    const names = readAll(current, readIdentifiers)
    expect(names.length).toBeGreaterThan(500)
    expect(names.filter(({ to }) => !words.has(to))).toEqual([])
  })

  test('exist when src/ or test/ refers to them', () => {
    // This file refers to a document that does not exist.
    const others = sources.filter((file) => file !== 'test/contract/documents.test.ts')
    const numbers = new Set(files.flatMap((file) => /^docs\/decisions\/\d{4}/.exec(file)?.[0] ?? []))
    const references = readAll(others, readDocumentReferences)
    expect(findBroken(references.filter(({ to }) => !numbers.has(to.slice(1))))).toEqual([])
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

  test('list every decision', () => {
    const listed = [...readFileSync('docs/decisions/README.md', 'utf8').matchAll(/^\| \[\d{4}\]\((.+?)\)/gm)]
    const decisions = files.flatMap((file) => /^docs\/decisions\/(\d{4}-.*)$/.exec(file)?.[1] ?? [])
    expect(listed.map(([, file]) => file).sort()).toEqual(decisions.sort())
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
