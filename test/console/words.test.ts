import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseAst } from 'vitest/node'
import { DE } from '../../console/src/words/de.ts'
import { listFiles } from '../support/documents.ts'
import type { Json } from '../support/json.ts'

/** The functions that translate, with the place of the key among their arguments. */
const TRANSLATED: Record<string, number> = { t: 0, tCount: 2, tNodes: 0 }
/** The attributes that people see or hear. */
const VISIBLE = new Set(['title', 'label', 'hint', 'placeholder', 'alt', 'aria-label', 'data-label'])
/** Names and notations, which are the same in all languages, and keys of the texts of CodeMirror. */
const NAMES =
  /^(✕|API|CSV|NDJSON|GraphQL|curl|OAuth 2\.0|OpenID Connect|FAPI 2\.0|Ctrl (K|Enter)|https:\/\/|user_…|\w+\.\w+|[\d.]+|((Unf|F)old line|No diagnostics))$/
/** A text of more than one word, or the beginning of one. */
const SENTENCE = /^[A-Z][a-z]+ \S*[a-z]/

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()

/** The keys that a file translates, and its texts that are not translated. */
function readTexts(file: string): { keys: string[]; left: string[] } {
  const keys: string[] = []
  const left: string[] = []
  const leave = (text: string) =>
    /[A-Za-z]{2}/.test(text) && !NAMES.test(text) && left.push(`${file}: ${text}`)
  const visit = (node: Json, parent: Json = null): void => {
    if (!node || typeof node !== 'object') return
    if (Array.isArray(node)) {
      for (const each of node) visit(each, parent)
      return
    }
    const at = node.type === 'CallExpression' ? TRANSLATED[node.callee.name] : undefined
    if (at !== undefined) {
      if (typeof node.arguments[at]?.value === 'string') keys.push(node.arguments[at].value)
      else left.push(`${file}: the key of ${node.callee.name}() is computed`)
      visit(node.arguments.slice(at + 1), node)
      return
    }
    if (node.type === 'ImportDeclaration' || node.type === 'TaggedTemplateExpression') return
    if (typeof node.type !== 'string') return
    if (node.type.startsWith('TS') && !node.expression) return
    if (node.type === 'JSXText' && !/^(code|kbd)$/.test(parent?.openingElement?.name.name))
      leave(node.value.trim())
    if (node.type === 'JSXAttribute' && typeof node.value?.value === 'string') {
      if (VISIBLE.has(node.name.name)) leave(node.value.value)
      return
    }
    if (node.type === 'Literal' && SENTENCE.test(String(node.value))) leave(String(node.value))
    for (const [name, child] of Object.entries(node)) if (name !== 'parent') visit(child, node)
  }
  visit(parseAst(readFileSync(file, 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' }))
  return { keys, left }
}

describe('the texts of the console', () => {
  const texts = listFiles()
    .filter((file) => /^console\/src\/(?!generated|words|.*\/snippets).*\.tsx?$/.test(file))
    .map(readTexts)
  const keys = new Set(texts.flatMap((file) => file.keys))

  test('are all translated where they are written', () => {
    expect(keys.size).toBeGreaterThan(900)
    expect(texts.flatMap(({ left }) => left)).toEqual([])
  })

  test('are the keys of the German catalogue, without one that nothing uses', () => {
    expect([...keys].filter((key) => !Object.hasOwn(DE, key))).toEqual([])
    expect(Object.keys(DE).filter((key) => !keys.has(key))).toEqual([])
  })

  test('have the placeholders of the English text in German', () => {
    for (const [key, form] of Object.entries(DE))
      for (const text of typeof form === 'string' ? [form] : Object.values(form))
        expect(placeholders(text), text).toEqual(
          // A form for one may leave the number out.
          placeholders(key).filter((name) => name !== '{count}' || text.includes(name)),
        )
  })
})
