import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { listFiles } from '../support/documents.ts'
import type { Json } from '../support/json.ts'

/** Placeholders of a title that a table fills in, and the `…` of an expression. */
const PLACEHOLDER = /%[sdifjo#$]|\$[\w.]+|…/g
/** Words that no title has. The event types `authorize.refused` and `token.refused` may be named. */
const BANNED =
  /\b(whoever|told|tells?|nobody|somebody|anybody|everybody|stands?|fault(s|y)?|meets|the spec)\b|\bis none\b|(?<!there )\bis no\b(?! longer)|(?<![.\w])refus(es?|ed)\b|\b(issue|rows?|security),? \d|\(\d{1,2}\)$|\b\w+\.md, trap\b|\bAPI\.md\b/i
/** A capitalized word starts no title, unless it is a name. */
const CAPITALIZED =
  /^(?!(Apollo|Apple|Authorization|Chromium|Cookie|Facebook|Google|Host|Link|Location|Microsoft|Origin|Prisma|Redis|Relay|Retry-After)\b)[A-Z][a-z]+\b/

/** The text of a string or template; an expression in a template is `…`. */
function readText(node: Json): string | null {
  if (node?.type === 'TemplateLiteral') return node.quasis.map((part: Json) => part.value.cooked).join('…')
  return typeof node?.value === 'string' ? node.value : null
}

/** What a callee such as `test`, `test.skipIf(…)` or `describe.each(…)` declares, and the table of its rows. */
function readCallee(callee: Json): { kind: string; table?: Json } | null {
  if (callee.type === 'Identifier')
    return /^(describe|test|it)$/.test(callee.name) ? { kind: callee.name } : null
  if (callee.type === 'MemberExpression')
    return callee.property.name === 'extend' ? null : readCallee(callee.object)
  const inner = callee.type === 'CallExpression' && readCallee(callee.callee)
  return inner ? { ...inner, table: callee.arguments[0] ?? inner.table } : null
}

/** The first members of the rows of a table that is written in the file, so far as they are strings. */
function readRows(table: Json, tables: Map<string, Json>): string[] {
  if (table?.type === 'Identifier') return readRows(tables.get(table.name), tables)
  if (table?.type === 'TSAsExpression') return readRows(table.expression, tables)
  const rows: Json[] = table?.type === 'ArrayExpression' ? table.elements : []
  return rows.flatMap((row) => readText(row.type === 'ArrayExpression' ? row.elements[0] : row) ?? [])
}

/** The problems of the titles of a file, each as a line. A title that is only a placeholder is replaced by those of its table. */
function findProblems(file: string, source: string): string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  const tables = new Map<string, Json>()
  const check = (title: string, kind: string, path: string, at: string) => {
    const report = (problem: string) => problems.push(`${at} "${title}" ${problem}`)
    const banned = BANNED.exec(title)
    if (banned) report(`contains "${banned[0]}"`)
    if (kind === 'describe') return
    if (seen.has(path)) report('is the title of another test')
    seen.add(path)
    // A placeholder is a phrase, and the name of a conformance module has hyphens.
    const words = title
      .replace(PLACEHOLDER, 'a b')
      .trim()
      .split(/[\s-]+/)
    if (words.length < 3 && words[0] !== 'oidcc') report('has fewer than three words')
    if (CAPITALIZED.test(title)) report('starts with a capital letter')
    if (/^(should|it|whether|when|if|and|or|but)\b/.test(title))
      report('starts with neither a verb nor a subject')
  }
  const visit = (node: Json, path: string): void => {
    if (typeof node !== 'object' || node === null) return
    if (node.type === 'VariableDeclarator') tables.set(node.id.name, node.init)
    const declared = node.type === 'CallExpression' ? readCallee(node.callee) : null
    const text = declared && readText(node.arguments[0])
    if (declared && text) {
      const isTable = text.replace(PLACEHOLDER, '').trim() === ''
      const at = `${file}:${source.slice(0, node.start).split('\n').length}`
      for (const title of isTable ? readRows(declared.table, tables) : [text])
        check(title, declared.kind, `${path} > ${title}`, at)
    }
    for (const member of Object.values(node)) visit(member, declared && text ? `${path} > ${text}` : path)
  }
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body, '')
  return problems
}

describe('the titles of a test file', () => {
  test.each(listFiles().filter((file) => /^test\/.*\.test\.tsx?$/.test(file)))(
    '%s are sentences in the words of the glossary',
    (file) => {
      expect(findProblems(file, readFileSync(file, 'utf8'))).toEqual([])
    },
  )

  test.each([
    ['a banned word', `test('refuses an expired code')`, '"refuses an expired code" contains "refuses"'],
    ['the number of an issue', `it('does as issue 3 asks')`, '"does as issue 3 asks" contains "issue 3"'],
    [
      'fewer than three words',
      `test.skipIf(!a)('expired code')`,
      '"expired code" has fewer than three words',
    ],
    ['a capital letter', `test.for(a)('Rejects %s')`, '"Rejects %s" starts with a capital letter'],
    [
      'no verb',
      `it('should reject a code')`,
      '"should reject a code" starts with neither a verb nor a subject',
    ],
    [
      'a row of a table',
      `const a = [['ends after it (29)', 1]]; describe('b', () => test.each(a)('%s', f))`,
      '"ends after it (29)" contains "(29)"',
    ],
    [
      'the title of another test',
      `describe('a', () => { it('ends at a time'); it('ends at a time') })`,
      '"ends at a time" is the title of another test',
    ],
    [
      'the same title in another describe',
      `describe('a', () => test('b c d')), describe('b', () => test('b c d'))`,
    ],
    ['the name of an event', `test('records authorize.refused by default')`],
  ])('are checked for %s', (_name, source, problem?: string) => {
    expect(findProblems('a.test.ts', source)).toEqual(problem ? [`a.test.ts:1 ${problem}`] : [])
  })
})
