import { IntlMessageFormat } from 'intl-messageformat'
import type { TextOverride } from '../model/text-override.ts'
import { CATALOGS, EN } from './catalogs.ts'
import type { MessageKey } from './messages.ts'
import { createWords, getWords, type Words } from './translations.ts'

/** A part of a parsed message: a literal, an argument, a plural or selection with options, or a tag with children. */
type Part = {
  type: number
  value?: string
  options?: Record<string, { value: Part[] }> | null
  children?: Part[]
}

/** Types of parts, as the parser numbers them. */
const LITERAL = 0
const ARGUMENT = 1
const POUND = 7
const TAG = 8

/** The names of the arguments and tags of a message, and what looks like a tag, each with the types of its uses. */
function listPlaceholders(parts: readonly Part[], found = new Map<string, Set<number>>()) {
  for (const { type, value = '', options, children } of parts) {
    const isText = type === LITERAL || type === POUND
    if (isText && !/[<>]/.test(value)) continue
    const name = isText ? '< or >' : type === TAG ? `<${value}>` : `{${value}}`
    found.set(name, (found.get(name) ?? new Set()).add(type))
    for (const option of Object.values(options ?? {})) listPlaceholders(option.value, found)
    listPlaceholders(children ?? [], found)
  }
  return found
}

const parseMessage = (text: string, language: string): Part[] =>
  new IntlMessageFormat(text, language).getAst() as Part[]

const isKnownKey = (key: string): key is MessageKey => Object.hasOwn(EN, key)

/**
 * Why a text cannot replace the message of a key, by the field of the override; null if it can. It must have the
 * arguments and tags of the message, so that no code or link is lost, and no others, so that it has no markup of its own.
 * An argument is used plainly or as in the message, because a name is not a date.
 */
export function findOverrideIssue({
  locale,
  key,
  text,
}: TextOverride): { field: keyof TextOverride; description: string } | null {
  if (!isKnownKey(key)) return { field: 'key', description: 'must be a key of the catalogs' }
  const catalog = CATALOGS.get(locale)
  if (!catalog) return { field: 'locale', description: 'must be a language of ui_locales_supported' }
  let given: Map<string, Set<number>>
  try {
    given = listPlaceholders(parseMessage(text, locale))
  } catch {
    return { field: 'text', description: 'must be in ICU MessageFormat' }
  }
  const expected = listPlaceholders(parseMessage(catalog[key], locale))
  const names = [...expected.keys()].sort().join(' ')
  if ([...given.keys()].sort().join(' ') !== names)
    return {
      field: 'text',
      description:
        names === ''
          ? 'must not have placeholders or tags'
          : `must have exactly these placeholders: ${names}`,
    }
  for (const [name, types] of given)
    if ([...types].some((type) => type !== ARGUMENT && !expected.get(name)?.has(type)))
      return { field: 'text', description: `must use ${name} as the message does` }
  return null
}

/** By the list, which is the same object while the tenant is cached. */
const wordsByOverrides = new WeakMap<object, Map<string, Words>>()

/**
 * The words of a language with the texts of a tenant. A text that was valid for an earlier version of the catalog is left
 * out. See docs/decisions/0092.
 */
export function getTenantWords(language: string, overrides: readonly TextOverride[] | null): Words {
  const own = overrides?.filter(({ locale }) => locale === language) ?? []
  if (!overrides || own.length === 0) return getWords(language)
  const known = wordsByOverrides.get(overrides) ?? new Map<string, Words>()
  wordsByOverrides.set(overrides, known)
  const words = known.get(language)
  if (words) return words
  const texts = own.filter((override) => findOverrideIssue(override) === null)
  const created = createWords(language, {
    ...(CATALOGS.get(language) ?? EN),
    ...Object.fromEntries(texts.map(({ key, text }) => [key, text])),
  })
  known.set(language, created)
  return created
}
