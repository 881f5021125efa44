import { describe, expect } from 'vitest'
import { findClient } from '../../src/access/client-cache.ts'
import { SURFACES } from '../support/client-writers.ts'
import { test, toIssues } from '../support/oidc-members.ts'

const GERMAN = {
  locale: 'de',
  name: 'Laden',
  logoUrl: 'https://shop.example/de.png',
  policyUrl: 'https://shop.example/datenschutz',
  termsUrl: 'https://shop.example/agb#kauf',
}
const FRENCH = { locale: 'fr-CH', name: 'Boutique', logoUrl: null, policyUrl: null, termsUrl: null }
const LINKS = { policyUrl: 'https://shop.example/privacy', termsUrl: 'https://shop.example/terms' }

describe.each(SURFACES)('the translations of a client over %s', (surface) => {
  test('are stored with language tags in canonical case, and are unset by null', async ({
    tenant,
    writers,
    listUpdates,
  }) => {
    const { id, ...created } = await writers[surface].create({
      ...LINKS,
      translations: [GERMAN, { locale: 'FR-ch', name: 'Boutique' }],
    })
    const stored = { ...LINKS, translations: [GERMAN, FRENCH] }
    expect(created).toMatchObject(stored)
    expect(await findClient(tenant, id)).toMatchObject(stored)
    expect(await writers[surface].update(id, stored)).toMatchObject(stored)
    expect(await listUpdates(id)).toEqual([])
    expect(await writers[surface].update(id, { translations: [FRENCH], policyUrl: '' })).toMatchObject({
      policyUrl: null,
      translations: [FRENCH],
    })
    expect(await listUpdates(id)).toEqual([['policyUrl', 'translations']])
    expect(await writers[surface].update(id, { translations: null })).toMatchObject({ translations: [] })
  })

  test('are rejected with all invalid fields, and nothing is written', async ({ tenant, writers }) => {
    const invalid = {
      policyUrl: 'javascript:alert(1)',
      translations: [
        { locale: 'not a tag', name: '', logoUrl: 'http://shop.example/de.png' },
        { locale: 'de' },
        { locale: '', name: 'x'.repeat(201), termsUrl: 'terms' },
      ],
    }
    const issues = [
      ['policyUrl', 'must be an http or https URL'],
      ['translations.0.locale', 'must be a BCP 47 language tag, such as de-AT'],
      ['translations.0.name', 'must not be empty'],
      ['translations.0.logoUrl', expect.stringContaining('https')],
      ['translations.1', 'must have one of name, logoUrl, policyUrl, termsUrl'],
      ['translations.2.locale', expect.any(String)],
      ['translations.2.name', 'must have at most 200 characters'],
      ['translations.2.termsUrl', 'must be an absolute URL'],
    ]
    expect(toIssues(await writers[surface].create(invalid))).toEqual(issues)
    const { id } = await writers[surface].create({ translations: [GERMAN] })
    expect(toIssues(await writers[surface].update(id, invalid))).toEqual(issues)
    expect(toIssues(await writers[surface].update(id, { translations: [FRENCH, FRENCH] }))).toEqual([
      ['translations.1.locale', 'is given twice'],
    ])
    const many = Array.from({ length: 51 }, (_, index) => ({ locale: `de-x-${index}`, name: 'Laden' }))
    expect(toIssues(await writers[surface].update(id, { translations: many }))).toEqual([
      ['translations', 'must have at most 50 entries'],
    ])
    expect((await findClient(tenant, id))?.translations).toEqual([GERMAN])
  })
})
