import { describe, expect } from 'vitest'
import { createEvent } from '../../src/events/create-event.ts'
import { recordEvents } from '../../src/events/log.ts'
import { runAxe } from '../support/axe.ts'
import { noBrowser, PHONE } from '../support/browser.ts'
import { prepareConsole, test } from '../support/console-journey.ts'
import { sql } from '../support/database.ts'
import { photograph } from '../support/journey.ts'

test.beforeAll(async ({ ctx, acme }) => {
  await prepareConsole({ ctx })
  // A month with more sign-ins on weekdays, from which the present day is left out.
  await sql(
    `INSERT INTO "DailyCount" ("tenantId", "day", "kind", "method", "count")
     SELECT $1, (now() AT TIME ZONE 'UTC')::date - n, kind, method, 1 + (size * (7 + n * n % 5) / 10)
     FROM generate_series(1, 29) n, (VALUES ('sign-in', 'passkey', 40), ('sign-in', 'passcode', 22), ('sign-in', 'provider', 9),
       ('failed-sign-in', 'passcode', 6), ('failed-sign-in', 'totp', 2), ('new-user', '', 5)) kinds(kind, method, size)`,
    [acme],
  )
})

describe.skipIf(noBrowser)('the start screen', () => {
  test('shows each day of a month by method, to the keyboard, the pointer and as a table', async ({
    openConsole,
  }) => {
    const { page, errors } = await openConsole('support')
    const chart = page.getByRole('slider', { name: 'Failed sign-ins by day' })
    await chart.waitFor()
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/day, .* \d{4}: 0$/)
    await chart.focus()
    await page.keyboard.press('ArrowLeft')
    const yesterday = new Date(Date.now() - 86_400_000)
    const words = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' }).format(yesterday)
    expect(await chart.getAttribute('aria-valuetext')).toBe(`${words}: 7, Code 5, Second factor 2`)
    expect(await page.locator('.day-note p').allTextContents()).toEqual(['Code 5', 'Second factor 2'])
    await page.keyboard.press('Home')
    expect(await chart.getAttribute('aria-valuenow')).toBe('1')
    await page.keyboard.press('Escape')
    expect(await page.locator('.day-note').count()).toBe(0)
    const box = await page.getByRole('slider', { name: 'Sign-ins by day', exact: true }).boundingBox()
    if (!box) throw new Error('the chart is not shown')
    await page.mouse.move(box.x + box.width - 2, box.y + 60)
    const today = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format()
    expect(await page.locator('.day-note').textContent()).toContain(today)
    await page.mouse.move(0, 0)
    const section = page.locator('.daily-chart').filter({ hasText: 'Failed sign-ins' })
    await section.locator('summary').click()
    const row = section.getByRole('row', { name: yesterday.toISOString().slice(0, 10) })
    expect(await row.getByRole('cell').allTextContents()).toEqual(['0', '5', '0', '2', '0'])
    expect(errors).toEqual([])
  })

  test('shows sign-ins, failures and users of now without a reload', async ({
    ctx,
    openConsole,
    newPerson,
    signIn,
    spa,
  }) => {
    const { page } = await openConsole('admin')
    const readToday = () => page.locator('.daily-chart .today').allTextContents()
    await page.locator('.daily-chart').first().waitFor()
    const [signIns, failures, users] = (await readToday()).map(Number)
    const person = await newPerson()
    await signIn(person.email, { client: spa })
    const failed = createEvent(
      'signin.failed',
      { userId: person.id },
      { method: 'passkey', reason: 'rejected' },
    )
    await recordEvents(ctx.db, ctx, [failed, failed])
    const next = [Number(signIns) + 1, Number(failures) + 2, Number(users) + 1].map(String)
    await expect.poll(readToday, { timeout: 10_000 }).toEqual(next)
    for (const _ of Array(30)) await recordEvents(ctx.db, ctx, [failed])
    await expect
      .poll(readToday, { timeout: 10_000 })
      .toEqual([next[0], String(Number(failures) + 32), next[2]])
  })

  test('asks for its charts once in three seconds at most while events arrive', async ({
    ctx,
    openConsole,
    person,
  }) => {
    const { page } = await openConsole('admin')
    await page.locator('.daily-chart').first().waitFor()
    let requests = 0
    page.on('request', (request) => {
      if (request.postData()?.includes('"dailyChartsQuery"')) requests += 1
    })
    const failed = createEvent(
      'signin.failed',
      { userId: person.id },
      { method: 'passkey', reason: 'rejected' },
    )
    for (const _ of Array(20)) {
      await recordEvents(ctx.db, ctx, [failed])
      await page.waitForTimeout(100)
    }
    expect(requests).toBe(1)
  })

  test('has no finding of axe with charts, in both schemes, forced colors and on a phone', async ({
    openConsole,
  }) => {
    const { page } = await openConsole('admin')
    await page.locator('.daily-chart').first().waitFor()
    for (const [name, media, size] of [
      ['light', { colorScheme: 'light' }, { width: 1280, height: 900 }],
      ['wide', { colorScheme: 'dark' }, { width: 2560, height: 1200 }],
      ['phone', { colorScheme: 'dark' }, PHONE],
      ['forced', { colorScheme: 'light', forcedColors: 'active' }, { width: 1280, height: 900 }],
    ] as const) {
      await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'none', ...media })
      await page.setViewportSize(size)
      await page.getByRole('slider', { name: 'Sign-ins by day', exact: true }).focus()
      await page.keyboard.press('ArrowLeft')
      expect([name, (await runAxe(page)).violations]).toEqual([name, []])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
      await photograph(page, `console-start-${name}`)
    }
  })
})
