import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { getWords } from '../../../src/languages/translations.ts'
import { buildSamplePages } from '../../../src/server/preview/preview.routes.ts'
import { listSources } from '../../support/imports.ts'
import { renderHtml } from '../../support/pages.tsx'

/** Pages without a sample, each with the reason. */
const WITHOUT_SAMPLE: Record<string, string> = {
  DemoClientPage: 'is for developers',
  InboxPage: 'is for developers',
  StartPage: 'is for developers',
  HomePage: 'is of no tenant',
  PreviewPage: 'shows the samples',
  FormPostPage: 'is left by a script at once',
  WebMessagePage: 'is in a frame that nobody sees',
  LeavePage: 'is the frame of other pages',
  StepPage: 'is the frame of other pages',
  MailPage: 'is the frame of mails',
}

const samples = buildSamplePages(getWords('en'), { tenantId: 'acme' })

describe('the samples of pages', () => {
  test('show every page that people meet', async () => {
    const pages = new Map<unknown, string>()
    for (const file of listSources().filter((name) => name.endsWith('.pages.tsx')))
      for (const [name, component] of Object.entries(await import(resolve(file))))
        if (/^[A-Z]\w*Page$/.test(name) && !(name in WITHOUT_SAMPLE)) pages.set(component, name)
    const shown = new Set(Object.values(samples).map(({ type }) => pages.get(type)))
    expect(pages.size).toBeGreaterThan(30)
    expect([...shown].sort()).toEqual([...pages.values()].sort())
  })

  test.each(Object.entries(samples))('has a sample %s of less than 15 KB', async (_name, page) => {
    const html = await renderHtml(page)
    expect(html).toContain('<h1')
    expect(html.length).toBeLessThan(15_000)
  })
})
