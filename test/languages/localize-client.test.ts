import { describe, expect, test } from 'vitest'
import { localizeClient } from '../../src/languages/localize-client.ts'

const translate = (locale: string, name: string | null) => ({
  locale,
  name,
  logoUrl: null,
  policyUrl: null,
  termsUrl: `https://shop.example/terms-${locale}`,
})
const SHOP = {
  name: 'Shop',
  termsUrl: 'https://shop.example/terms',
  translations: [
    translate('de-CH', 'Lade'),
    translate('de', 'Laden'),
    translate('pt-BR', 'Loja'),
    translate('ja', null),
  ],
}

describe('localizeClient', () => {
  test.for([
    ['de', 'Laden', 'terms-de'],
    ['de-CH', 'Lade', 'terms-de-CH'],
    ['de-AT', 'Laden', 'terms-de'],
    ['pt', 'Loja', 'terms-pt-BR'],
    ['ja', 'Shop', 'terms-ja'],
    ['en', 'Shop', 'terms'],
  ])('shows readers of %s the name %s', ([language = '', name, terms]) => {
    expect(localizeClient(SHOP, language)).toMatchObject({ name, termsUrl: `https://shop.example/${terms}` })
  })

  test('returns what has no translations', () => {
    const page = { name: 'Account', translations: undefined }
    expect(localizeClient(page, 'de')).toBe(page)
  })
})
