import type { Catalog, MessageKey } from './messages.ts'

/**
 * Services state errors and the meaning of scopes as English sentences, because they know no language and the APIs
 * return the same sentences. Pages find the translation by the sentence: the English messages under this prefix are
 * what services say.
 */
const PREFIX = 'service.'

type FoundSentence = { key: MessageKey; values: Record<string, string> }

const ARGUMENT = /\\?\{(\w+)\\?\}/g

/** The pattern of a message whose arguments are plain: `must have at least {count} characters`. */
function toPattern(message: string): RegExp {
  const escaped = message.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replace(ARGUMENT, '(?<$1>.+)')}$`)
}

/** Finds the message and its arguments from which a service made a sentence; null for any other text. */
export function createSentenceFinder(english: Catalog): (sentence: string) => FoundSentence | null {
  const keys = (Object.keys(english) as MessageKey[]).filter((key) => key.startsWith(PREFIX))
  const plain = new Map(keys.map((key) => [english[key], key]))
  const patterns = keys
    .filter((key) => english[key].includes('{'))
    .map((key) => ({ key, pattern: toPattern(english[key]) }))
  return (sentence) => {
    const key = plain.get(sentence)
    if (key) return { key, values: {} }
    for (const { key, pattern } of patterns) {
      const match = pattern.exec(sentence)
      if (match) return { key, values: { ...match.groups } }
    }
    return null
  }
}
