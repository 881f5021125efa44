import { parseAst } from 'vitest/node'

/** A title of a test file. `path` has the titles of the describes around it, outermost first. */
export type Title = { kind: 'test' | 'describe'; line: number; path: string[]; text: string }

type Node = { type: string; start: number; [member: string]: unknown }

const KINDS: Record<string, Title['kind']> = { describe: 'describe', test: 'test', it: 'test' }
/** Members of `test` and `describe` that take a title, or that return a function that does. */
const MODIFIERS = [
  'concurrent',
  'each',
  'fails',
  'for',
  'only',
  'runIf',
  'sequential',
  'skip',
  'skipIf',
  'todo',
]
/** Placeholders of a title that a table fills in. */
const PLACEHOLDER = /%[sdifjo#$]|\$[\w.]+|…/g

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** The text of a string or template; an expression in a template is `…`. */
function readText(node: unknown): string | null {
  if (!isNode(node)) return null
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node.type !== 'TemplateLiteral') return null
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('…')
}

/**
 * What a callee such as `test`, `test.skipIf(…)` or `describe.each(…)` declares, and the table of its rows.
 */
function readCallee(callee: unknown): { kind: Title['kind']; table: unknown } | null {
  if (!isNode(callee)) return null
  if (callee.type === 'Identifier') {
    const kind = KINDS[callee.name as string]
    return kind ? { kind, table: null } : null
  }
  if (callee.type === 'MemberExpression') {
    const name = (callee.property as { name?: string }).name ?? ''
    return MODIFIERS.includes(name) ? readCallee(callee.object) : null
  }
  if (callee.type !== 'CallExpression') return null
  const inner = readCallee(callee.callee)
  return inner && { ...inner, table: (callee.arguments as unknown[])[0] ?? inner.table }
}

/** The first members of the rows of a table that is written in the file, so far as they are strings. */
function readRows(table: unknown, tables: Map<string, Node>): string[] {
  if (!isNode(table)) return []
  if (table.type === 'Identifier') return readRows(tables.get(table.name as string), tables)
  if (table.type === 'TSAsExpression') return readRows(table.expression, tables)
  if (table.type !== 'ArrayExpression') return []
  return (table.elements as unknown[]).flatMap((row) => {
    const first = isNode(row) && row.type === 'ArrayExpression' ? (row.elements as unknown[])[0] : row
    const text = readText(first)
    return text === null ? [] : [text]
  })
}

/**
 * The titles of a test file, in order. A title that is only a placeholder is replaced by those of its table.
 */
export function readTitles(file: string, source: string): Title[] {
  const titles: Title[] = []
  const tables = new Map<string, Node>()
  const lineAt = (index: number) => source.slice(0, index).split('\n').length
  const visit = (value: unknown, path: string[]): void => {
    if (Array.isArray(value)) {
      for (const one of value) visit(one, path)
      return
    }
    if (!isNode(value)) return
    if (value.type === 'VariableDeclarator' && isNode(value.init))
      tables.set((value.id as { name?: string }).name ?? '', value.init)
    const declared = value.type === 'CallExpression' ? readCallee(value.callee) : null
    const text = declared && readText((value.arguments as unknown[])[0])
    if (declared && typeof text === 'string') {
      const isTable = text.replace(PLACEHOLDER, '').trim() === ''
      const line = lineAt(value.start)
      for (const one of isTable ? readRows(declared.table, tables) : [text])
        titles.push({ kind: declared.kind, line, path, text: one })
      visit(value.arguments, declared.kind === 'describe' ? [...path, text] : path)
      visit(value.callee, path)
      return
    }
    for (const member of Object.values(value)) visit(member, path)
  }
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }).body, [])
  return titles
}

/**
 * Words and phrases that no title has. The event types `authorize.refused` and `token.refused` may be named.
 */
const BANNED = [
  /\bwhoever\b/i,
  /\b(told|tells?)\b/i,
  /\bis none\b|(?<!there )\bis no\b(?! longer)/i,
  /\b(nobody|somebody|anybody|everybody)\b/i,
  /\bstands?\b/i,
  /\bfault(s|y)?\b/i,
  /(?<![.\w])refus(es?|ed)\b/i,
  /\bmeets\b/i,
  /\bissue \d/i,
  /\b(rows?|security),? \d/i,
  /\(\d{1,2}\)$/,
  /\bthe spec\b/i,
  /\bAPI\.md\b|\b\w+\.md, trap\b/,
]
/** A capitalized word starts no title, unless it is a name. */
const CAPITALIZED = /^[A-Z][a-z]+\b/
const NAMES =
  /^(Apollo|Apple|Authorization|Chromium|Cookie|Facebook|Google|Host|Link|Location|Microsoft|Origin|Prisma|Redis|Relay|Retry-After)\b/

/** The problems of the titles of one file, each as a line. */
export function findTitleProblems(file: string, titles: readonly Title[]): string[] {
  const problems: string[] = []
  const seen = new Set<string>()
  for (const { kind, line, path, text } of titles) {
    const report = (problem: string) => problems.push(`${file}:${line} "${text}" ${problem}`)
    for (const pattern of BANNED) {
      const found = pattern.exec(text)
      if (found) report(`contains "${found[0]}"`)
    }
    if (kind === 'describe') continue
    const full = [...path, text].join(' > ')
    if (seen.has(full)) report('is the title of another test')
    seen.add(full)
    // A placeholder is a phrase, and the name of a conformance module has hyphens.
    if (
      text
        .replace(PLACEHOLDER, 'a b')
        .trim()
        .split(/[\s-]+/).length < 3
    )
      report('has fewer than three words')
    if (CAPITALIZED.test(text) && !NAMES.test(text)) report('starts with a capital letter')
    if (/^(should|it|whether|when|if|and|or|but)\b/.test(text))
      report('starts with neither a verb nor a subject')
  }
  return problems
}
