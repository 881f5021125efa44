import { describe, expect, test } from 'vitest'
import { CATALOGS } from '../../src/languages/catalogs.ts'
import { findOverrideIssue, getTenantWords } from '../../src/languages/text-overrides.ts'
import { getWords } from '../../src/languages/translations.ts'

describe('findOverrideIssue', () => {
  test('accepts every message of every catalog', () => {
    const issues = [...CATALOGS].flatMap(([locale, catalog]) =>
      Object.entries(catalog).flatMap(([key, text]) => findOverrideIssue({ locale, key, text }) ?? []),
    )
    expect(issues).toEqual([])
  })

  test('accepts a plural that is written plainly, and rejects a name in the place of a plural', () => {
    const override = { locale: 'en', key: 'code.hint' }
    expect(findOverrideIssue({ ...override, text: 'Minutes left: {count}' })).toBeNull()
    expect(findOverrideIssue({ ...override, text: 'Minutes left: {name}' })).toEqual({
      field: 'text',
      description: 'must have exactly these placeholders: {count}',
    })
  })
})

describe('getTenantWords', () => {
  const overrides = [
    { locale: 'en', key: 'signIn.title', text: 'Welcome' },
    { locale: 'en', key: 'code.hint', text: '{gone} minutes' },
    { locale: 'en', key: 'removed.key', text: 'Gone' },
  ]

  test('returns the texts of the tenant in their language, and the catalog for texts that do not fit', () => {
    const words = getTenantWords('en', overrides)
    expect(words.text('signIn.title')).toBe('Welcome')
    expect(words.text('code.hint', { count: 1 })).toBe('It works for 1 minute.')
    expect(getTenantWords('de', overrides)).toBe(getWords('de'))
    expect(getTenantWords('en', null)).toBe(getWords('en'))
  })

  test('compiles the words of a list once', () => {
    expect(getTenantWords('en', overrides)).toBe(getTenantWords('en', overrides))
  })
})
