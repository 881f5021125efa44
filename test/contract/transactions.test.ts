import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { listSources } from '../support/imports.ts'

/** A way into the database that is not the transaction. */
const OTHER_HANDLE =
  /\b(ctx|\w+Ctx)\.db\b|\bnew Handle\(|\bsystem\.(?:one|many|run|list|prisma|transaction)\b/
const BEGIN = '.transaction('
/** A function whose first parameter is the transaction. */
const TAKES_TX = /^(export )?(async )?(function \w+|const \w+ = (async )?)(<.*>)?\(\s*tx: Tx\b/

const indentOf = (line: string): number => line.search(/\S|$/)

/** The rest of a line from `start`, and the lines after it that are indented deeper. */
function readBlock(lines: readonly string[], index: number, start: number): string {
  const line = lines[index] ?? ''
  const end = lines.findIndex((other, at) => at > index && other && indentOf(other) <= indentOf(line))
  return [line.slice(start), ...lines.slice(index + 1, end < 0 ? undefined : end)].join('\n')
}

/** The function that begins at a line of the outermost level. */
function readFunction(lines: readonly string[], index: number): string {
  const isEnd = /\bfunction\b/.test(lines[index] ?? '') ? /^\}/ : /^$/
  const end = lines.findIndex((line, at) => at > index && isEnd.test(line))
  return lines.slice(index, end < 0 ? undefined : end).join('\n')
}

/** What runs in a transaction: callbacks of `transaction`, and functions that take one first. */
function listTransactionCode(source: string): string[] {
  const lines = source.split('\n')
  return lines.flatMap((line, index) => {
    const begin = line.indexOf(BEGIN)
    if (begin >= 0 && !line.includes('*')) return readBlock(lines, index, begin + BEGIN.length)
    return TAKES_TX.test(lines.slice(index, index + 2).join('\n')) ? readFunction(lines, index) : []
  })
}

const findOtherHandles = (source: string): string[] =>
  listTransactionCode(source).filter((code) => OTHER_HANDLE.test(code))

describe('a transaction', () => {
  const sources = listSources().filter((file) => !file.startsWith('src/database/'))

  test('sends all its statements on its own connection', () => {
    const texts = sources.map((file) => [file, readFileSync(file, 'utf8')] as const)
    expect(texts.flatMap(([, text]) => listTransactionCode(text)).length).toBeGreaterThan(30)
    expect(texts.flatMap(([file, text]) => findOtherHandles(text).map((code) => [file, code]))).toEqual([])
  })

  test.for([
    [
      'a statement of the context in a block',
      'await ctx.db.transaction(async (tx) => {\n  await lock(ctx.db)\n})',
    ],
    ['a statement of another context', 'await ctx.db.transaction((tx) => lock(userCtx.db))'],
    ['a new handle', 'return ctx.db.transaction((tx) =>\n  lock(new Handle({ tenant })),\n)'],
    [
      'a handle in a function of a transaction',
      'async function lock(tx: Tx, ctx: Ctx) {\n\n  await read(ctx.db)\n}',
    ],
  ])('finds %s', ([, source]) => {
    expect(findOtherHandles(source as string)).toHaveLength(1)
  })

  test('accepts a handle before and after it', () => {
    const source = 'await read(ctx.db)\nawait ctx.db.transaction((tx) => lock(tx))\nawait read(ctx.db)'
    expect(findOtherHandles(source)).toEqual([])
  })
})
