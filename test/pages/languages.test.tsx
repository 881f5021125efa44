import { describe, expect, test } from 'vitest'
import { LANGUAGES } from '../../src/languages/catalogs.ts'
import { getWords } from '../../src/languages/translations.ts'
import { renderPage } from '../../src/pages/render-page.pages.tsx'
import { listTags, pagesWith } from '../support/pages.tsx'
import { PSEUDO_WORDS } from '../support/pseudo-language.ts'

/** The text of a page that no catalog has: outside of brackets, times, scripts and styles. */
function findForeignText(html: string): string {
  const text = html
    .replace(/<(time|style|script|bdi|code|svg|option)\b[^>]*>.*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
  let depth = 0
  let foreign = ''
  for (const character of text) {
    if (character === '⟦') depth++
    else if (character === '⟧') depth--
    else if (depth === 0) foreign += character
  }
  return foreign.replace(/\s+/g, ' ').trim()
}

const MAX_PAGE_BYTES = 15_000
/** Developers read these pages; they are English. */
const DEVELOPMENT_PAGES = ['start', 'inbox', 'demo']
/** A text that tenants, clients and users choose, without a letter of a language. */
const GIVEN = '※'
/** Examples of values, which are the same in every language. */
const EXAMPLES = ['Europe/Zurich']

const renderPages = (words: typeof PSEUDO_WORDS, languageReturn: string | null = '/acme/account') =>
  Promise.all(
    Object.entries(pagesWith(GIVEN))
      .filter(([name]) => !DEVELOPMENT_PAGES.includes(name))
      .map(async ([name, page]) => {
        const response = renderPage(page, { words, languageReturn })
        return { name, response, html: await response.text() }
      }),
  )

describe('a hosted page', () => {
  test('has no text that is not of a catalog', async () => {
    const foreign = (await renderPages(PSEUDO_WORDS)).map(({ name, html }) => [
      name,
      findForeignText(html).match(/[A-Za-z]+/g) ?? [],
    ])
    expect(foreign.filter(([, words]) => words?.length)).toEqual([])
  })

  test('has no attribute with words that are not of a catalog', async () => {
    for (const { name, html } of await renderPages(PSEUDO_WORDS))
      for (const { attributes } of listTags(html))
        for (const attribute of [
          'aria-label',
          'alt',
          'title',
          'placeholder',
          'data-messages',
          'data-texts',
          'data-text',
        ]) {
          const value = attributes[attribute]
          if (value && /[A-Za-z]/.test(value) && !EXAMPLES.includes(value))
            expect([name, attribute, value]).toEqual([name, attribute, expect.stringContaining('⟦')])
        }
  })

  describe.each(LANGUAGES)('in %s', (language) => {
    const words = getWords(language)

    test('names its language and direction, and is small', async () => {
      for (const { name, response, html } of await renderPages(words)) {
        expect(html).toMatch(
          `<html lang="${language}" dir="${['ar', 'he'].includes(language) ? 'rtl' : 'ltr'}">`,
        )
        expect(response.headers.get('content-language')).toBe(language)
        expect(response.headers.get('vary')).toBe('Accept-Encoding, Accept-Language, Cookie')
        expect([name, Buffer.byteLength(html) < MAX_PAGE_BYTES]).toEqual([name, true])
      }
    })

    test('offers every language, its own selected, to a page of the tenant', async () => {
      const [page] = await renderPages(words, '/acme/device')
      const options = listTags(page?.html ?? '').filter((tag) => tag.name === 'option')
      expect(options.map(({ attributes }) => attributes.value)).toEqual(LANGUAGES)
      expect(
        options
          .filter(({ attributes }) => 'selected' in attributes)
          .map(({ attributes }) => attributes.value),
      ).toEqual([language])
      expect(page?.html).toContain('name="return_to" value="/acme/device"')
    })
  })

  test('has no menu of languages where there is no page to lead back to', async () => {
    for (const { html } of await renderPages(getWords('en'), null)) expect(html).not.toContain('return_to')
  })
})
