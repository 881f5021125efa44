import { readFileSync } from 'node:fs'
import { readNamedVariable } from '../../core/env.ts'
import type { FieldIssue } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json/json-object.ts'
import { createFileError } from '../file-errors.ts'

// A text of a file is a reference as a whole: ${apis:https://api.example} is the id of an object, ${env:NAME} and
// ${file:PATH} are values from outside. A text that begins with ${ or $$ is written with one more $.

const REFERENCE = /^\$\{(\w+):(.+)\}$/s
const ESCAPED = /^\$\$/
const NEEDS_ESCAPE = /^\$[{$]/

/** Ids by their references. */
export type Ids = Map<string, string>

export const toReference = (section: string, key: string): string => `\${${section}:${key}}`

/** Maps every text of a JSON value. `path` has dots between levels. */
export function mapTexts(value: unknown, map: (text: string, path: string) => unknown, path = ''): unknown {
  const join = (name: string | number) => (path === '' ? String(name) : `${path}.${name}`)
  if (typeof value === 'string') return map(value, path)
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, map, join(index)))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, mapTexts(member, map, join(name))]),
  )
}

/** A value of the API as a file has it: ids of known objects are references. */
export const toFileValue = (value: unknown, references: ReadonlyMap<string, string>): unknown =>
  mapTexts(value, (text) => references.get(text) ?? (NEEDS_ESCAPE.test(text) ? `$${text}` : text))

/** The references to objects in a value. */
export function findReferences(value: unknown): string[] {
  const found: string[] = []
  mapTexts(value, (text) => {
    const source = REFERENCE.exec(text)?.[1]
    if (source && source !== 'env' && source !== 'file') found.push(text)
  })
  return found
}

function readOutside(source: string, name: string): string {
  if (source === 'file') {
    try {
      return readFileSync(name, 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      throw createFileError(name, error, 'read')
    }
  }
  const value = readNamedVariable(name)
  if (value === undefined) throw new Error(`the variable ${name} is not set`)
  return value
}

/**
 * Replaces the references to values from outside, and the escapes. References to objects stay. Adds an issue for each that
 * is not there.
 */
export const resolveOutside = (value: unknown, issues: FieldIssue[], path: string): unknown =>
  mapTexts(
    value,
    (text, at) => {
      const [, source = '', name = ''] = REFERENCE.exec(text) ?? []
      if (source !== 'env' && source !== 'file') return text
      try {
        return readOutside(source, name)
      } catch (error) {
        issues.push({ field: at, description: describe(error, name) })
        return text
      }
    },
    path,
  )

function describe(error: unknown, name: string): string {
  const [issue] = (error as { fields?: FieldIssue[] }).fields ?? []
  return issue ? `${name} ${issue.description}` : (error as Error).message
}

/** Replaces the references to objects by their ids, and unescapes. `fallback` is that of an object without an id so far. */
export const resolveIds = (value: unknown, ids: Ids, fallback?: string): unknown =>
  mapTexts(value, (text) =>
    REFERENCE.test(text) ? (ids.get(text) ?? fallback ?? text) : text.replace(ESCAPED, '$'),
  )
