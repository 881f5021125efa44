import { IntlMessageFormat } from 'intl-messageformat'
import { describe, expect, test } from 'vitest'
import { listConsentItems } from '../../src/consents/consent-items.ts'
import { SCOPE_NAMES } from '../../src/core/scopes.ts'
import { CATALOGS, EN, LANGUAGES } from '../../src/languages/catalogs.ts'
import type { MessageKey } from '../../src/languages/messages.ts'
import { getLanguageName, getWords } from '../../src/languages/translations.ts'
import { CLAIM_DEFINITIONS } from '../../src/users/claims.ts'

type Element = ReturnType<IntlMessageFormat['getAst']>[number]

/** The names of the arguments and tags of a message, with those in plural forms. */
const listNames = (elements: readonly Element[]): string[] =>
  elements.flatMap((element) => {
    const { value, options, children } = element as {
      value?: string
      options?: Record<string, { value: Element[] }>
      children?: Element[]
    }
    const isText = element.type === 0 || element.type === 7
    const nested = [...Object.values(options ?? {}).map((option) => option.value), children ?? []]
    return [...(isText || value === undefined ? [] : [value]), ...nested.flatMap(listNames)]
  })

const readNames = (message: string, language: string): string[] =>
  [...new Set(listNames(new IntlMessageFormat(message, language).getAst()))].sort()

const buildWordPattern = (words: string): RegExp => new RegExp(`(?<!\\p{L})(${words})(?!\\p{L}|\\+)`, 'u')

/** The words of the forms of address that a catalog does not use, by language. */
const OTHER_ADDRESSES: Record<string, RegExp> = {
  de: buildWordPattern('[Dd](u|ir|ich|ein\\p{L}*)|[Ee](uch|uer\\p{L}*)'),
  es: buildWordPattern('[Uu]sted|[Uu]stedes|[Vv]osotros|[Vv]uestr\\p{L}+'),
  fr: buildWordPattern('[Tt](u|on|a|es|oi)'),
  he: buildWordPattern('שלך|אתה'),
  it: buildWordPattern('Lei|Suo|Sua|voi|vostr\\p{L}+'),
  nl: buildWordPattern('[Uu]w?'),
  pl: buildWordPattern('Pan|Pani|Państw\\p{L}+'),
  pt: buildWordPattern('[Tt](u|eu|ua)|vós'),
  tr: buildWordPattern('[Ss](en|enin|ana|eni)'),
  zh: /你/,
}

describe('the catalogs of languages', () => {
  test('are those of these languages', () => {
    expect(LANGUAGES[0]).toBe('en')
    expect(LANGUAGES).toEqual(expect.arrayContaining('en ar de es fr he it ja nl pl pt tr zh'.split(' ')))
  })

  test.for(Object.entries(OTHER_ADDRESSES))('for %s address the reader in one form', ([language, other]) => {
    const texts = Object.entries(CATALOGS.get(language) ?? {})
    expect(texts.length).toBeGreaterThan(0)
    expect(texts.filter(([, text]) => other.test(text))).toEqual([])
  })

  describe.each([...CATALOGS])('for %s', (language, catalog) => {
    test('have the keys, arguments and tags of the English one', () => {
      expect(Object.keys(catalog)).toEqual(Object.keys(EN))
      const names = (of: Record<string, string>, tag: string) =>
        Object.entries(of).map(([key, message]) => [key, readNames(message, tag)])
      expect(names(catalog, language)).toEqual(names(EN, 'en'))
    })

    test('have every plural form of the language', () => {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
      for (const key of [
        'wait.seconds',
        'wait.minutes',
        'wait.hours',
        'code.hint',
        'code.countdown',
        'recoveryUsed.left',
      ] as const) {
        const [plural] = new IntlMessageFormat(catalog[key], language)
          .getAst()
          .filter((element) => 'options' in element) as { options: object }[]
        // Fractions and millions, which have forms of their own in some languages, are not shown.
        const needed = pluralCategories.filter((category) =>
          Array.from({ length: 120 }, (_, count) => count + 1).some(
            (count) => new Intl.PluralRules(language).select(count) === category,
          ),
        )
        expect(Object.keys(plural?.options ?? {})).toEqual(expect.arrayContaining([...needed, 'other']))
      }
    })

    test('have no straight apostrophe, which quotes, outside of English', () => {
      if (language !== 'en')
        expect(Object.values(catalog).filter((message) => /'|^\s|\s$/.test(message))).toEqual([])
    })

    test('translate the meaning of every scope and claim', () => {
      const items = listConsentItems(
        [
          'openid',
          'profile',
          'email',
          'phone',
          'address',
          'offline_access',
          'session',
          'account',
          'other',
          ...SCOPE_NAMES,
        ],
        [...Object.keys(CLAIM_DEFINITIONS), 'other'],
      )
      const { translate } = getWords(language)
      const same = items.filter(({ words }) => translate(words) === words)
      expect(same).toEqual(language === 'en' ? items : [])
    })
  })

  test('are named as their speakers name them', () => {
    expect(getLanguageName('de')).toBe('Deutsch')
    expect(getLanguageName('ar')).toBe('العربية')
  })

  test('are written in their direction', () => {
    expect(LANGUAGES.filter((language) => getWords(language).direction === 'rtl').sort()).toEqual(
      ['ar', 'he'].filter((language) => CATALOGS.has(language)),
    )
  })

  test('translate sentences of services with what varies in them, and no others', () => {
    const { translate } = getWords('de')
    expect(translate('must have at least 3 characters')).toBe('mindestens 3 Zeichen')
    expect(translate('must have at most 3 characters')).toBe('höchstens 3 Zeichen')
    expect(translate('No such page.')).toBe('Diese Seite gibt es nicht.')
    expect(translate('A new sentence.')).toBe('A new sentence.')
    expect(getWords('xx' satisfies string).text('action.cancel' satisfies MessageKey)).toBe('Cancel')
  })
})
