import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { listFiles } from '../support/documents.ts'
import { findTitleProblems, readTitles } from '../support/titles.ts'

const files = listFiles().filter((file) => /^test\/.*\.test\.tsx?$/.test(file))
const findProblems = (source: string) => findTitleProblems('a.test.ts', readTitles('a.test.ts', source))

describe('the titles of a test file', () => {
  test.each(files)('%s are sentences in the words of the glossary', (file) => {
    expect(findTitleProblems(file, readTitles(file, readFileSync(file, 'utf8')))).toEqual([])
  })
})

describe('a title', () => {
  test('is read from describe, test, it, their modifiers and tables', () => {
    const source = `
      const ROWS = [['rejects a first value', 1], ['rejects a second value', 2]]
      describe.skipIf(!url)('a list', () => {
        test.for(pages)('reads page %s only', () => {})
        it('ends after the last page', () => {})
        test.each(ROWS)('%s', () => {})
      })
      test.extend('page', () => 1)`
    expect(readTitles('a.test.ts', source).map(({ path, text }) => [...path, text].join(' > '))).toEqual([
      'a list',
      'a list > reads page %s only',
      'a list > ends after the last page',
      'a list > rejects a first value',
      'a list > rejects a second value',
    ])
  })

  test.each([
    ['a banned word', 'refuses an expired code', 'contains "refuses"'],
    ['the number of a row', 'rejects an expired code (29)', 'contains "(29)"'],
    ['the number of an issue', 'does what issue 3 asks', 'contains "issue 3"'],
    ['fewer than three words', 'expired code', 'has fewer than three words'],
    ['a capital letter', 'Rejects an expired code', 'starts with a capital letter'],
    ['no verb or subject', 'should reject an expired code', 'starts with neither a verb nor a subject'],
  ])('is reported for %s', (_name, title, problem) => {
    expect(findProblems(`test('${title}', () => {})`)).toEqual([`a.test.ts:1 "${title}" ${problem}`])
  })

  test('is reported when another test of the same describe has it', () => {
    const one = `test('rejects an expired code', () => {})`
    expect(findProblems(`describe('a', () => { ${one} })\ndescribe('b', () => { ${one} })`)).toEqual([])
    expect(findProblems(`${one}\n${one}`)).toEqual([
      'a.test.ts:2 "rejects an expired code" is the title of another test',
    ])
  })

  test('is accepted with the name of an event or a default', () => {
    const source = `test('records authorize.refused by default', () => {})`
    expect(findProblems(source)).toEqual([])
  })
})
