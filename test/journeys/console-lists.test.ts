import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { startBulkJobs } from '../../src/jobs/bulk-jobs.ts'
import { revokeUserSessions } from '../../src/sessions/revoke-sessions.ts'
import { deleteUser } from '../../src/users/users.ts'
import { runAxe } from '../support/axe.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { test as base, prepareConsole, SHOWN } from '../support/console-journey.ts'
import { sql } from '../support/database.ts'

const USERS = 6000

/** `test` with many users, of whom User 6000 is the newest. */
const test = base.extend('many', { scope: 'file' }, async ({ acme }) => {
  await sql(
    `INSERT INTO "User" ("tenantId", "id", "name", "locked", "createdAt")
     SELECT $1, 'user_01m7xeb1sbendby702xer' || lpad(n::text, 5, '0'), 'User ' || n, n % 4 = 0,
       '2026-01-01'::timestamptz + n * interval '1 minute'
     FROM generate_series(1, $2::int) n`,
    [acme, USERS],
  )
  return USERS
})

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

/** The names that one sees. */
const readVisible = (page: Page): Promise<string[]> =>
  page.locator('.big-list').evaluate((list) => {
    const { top, bottom } = list.getBoundingClientRect()
    return [...list.querySelectorAll<HTMLElement>('tbody tr')]
      .filter((row) => {
        const box = row.getBoundingClientRect()
        return box.bottom > top + 40 && box.top < bottom - 10
      })
      .map((row) => row.querySelector('.row-link .truncated')?.textContent ?? '…')
  })

/** Moves the thumb to a part of the scrollbar. */
const moveThumb = (page: Page, part: number): Promise<void> =>
  page.locator('.big-list').evaluate((list, to) => {
    list.scrollTop = to * (list.scrollHeight - list.clientHeight)
  }, part)

const waitForRow = (page: Page, name: string | RegExp) =>
  expect.poll(() => readVisible(page), SHOWN).toContainEqual(expect.stringMatching(name))

const findViolations = async (page: Page) => (await runAxe(page)).violations

describe.skipIf(noBrowser)('a list of the console', () => {
  test('has a scrollbar over all of its rows, and loads those where its thumb lands', async ({
    many,
    openConsole,
  }) => {
    const { page, errors } = await openConsole('admin', '/users')
    await waitForRow(page, /Person admin/)
    const count = Number(String(await page.locator('.count').textContent()).replaceAll(/\D/g, ''))
    expect(count).toBeGreaterThan(many)
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe(String(count + 1))
    await moveThumb(page, 0.5)
    await waitForRow(page, /^User (29|30)\d\d$/)
    await expect.poll(() => readVisible(page), SHOWN).not.toContain('…')
    await moveThumb(page, 1)
    await waitForRow(page, /^User 1$/)
    await page.locator('.big-list').hover()
    for (let turn = 0; turn < 8; turn += 1) {
      await page.mouse.wheel(0, -500)
      await page.waitForTimeout(30)
    }
    await waitForRow(page, /^User 9\d$/)
    await expect.poll(() => readVisible(page), SHOWN).not.toContain('…')
    await moveThumb(page, 0)
    await waitForRow(page, /Person admin/)
    expect(errors).toEqual([])
  })

  test('is walked by keys, and Back leads to the row that was opened', async ({ many, openConsole }) => {
    const { page } = await openConsole('admin', '/users')
    await waitForRow(page, /Person admin/)
    await page.getByRole('grid').focus()
    await page.keyboard.press('End')
    await waitForRow(page, /^User 1$/)
    await page.keyboard.press('ArrowUp')
    const active = page.locator('[data-active]')
    expect(await active.locator('th').textContent()).toContain('User 2')
    expect(await page.getByRole('grid').getAttribute('aria-activedescendant')).toBe(
      await active.getAttribute('id'),
    )
    expect(Number(await active.getAttribute('aria-rowindex'))).toBeGreaterThan(many)
    await page.waitForTimeout(300)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'User 2' }).waitFor()
    await page.goBack()
    await waitForRow(page, /^User 1$/)
    await page.getByRole('grid').focus()
    await page.keyboard.press('Home')
    await waitForRow(page, /Person admin/)
    await page.keyboard.press('PageDown')
    expect(Number(await active.getAttribute('aria-rowindex'))).toBeGreaterThan(8)
  })

  test('is ordered by a column, which the URL has', async ({ many, openConsole }) => {
    const { page } = await openConsole('admin', '/users')
    const header = page.getByRole('columnheader', { name: 'Created' })
    await header.getByRole('button').click()
    await header.getByRole('button').click()
    await waitForRow(page, /^User 1$/)
    expect([new URL(page.url()).search, await header.getAttribute('aria-sort')]).toEqual([
      '?sort=created',
      'ascending',
    ])
    await page.reload()
    await waitForRow(page, /^User 1$/)
    await header.getByRole('button').click()
    await waitForRow(page, /Person admin/)
    expect(new URL(page.url()).search).toBe('')
    await page.goBack()
    await waitForRow(page, /^User 1$/)
    expect(many).toBe(USERS)
  })

  test('is filtered by chips, which the URL has', async ({ many, openConsole }) => {
    const { page } = await openConsole('admin', '/users?sort=name')
    await page.getByLabel('Add a filter').selectOption('Locked')
    await page.getByText(`${(many / 4).toLocaleString('en')} users`).waitFor()
    // The server has no order by name for it.
    expect(new URL(page.url()).search).toBe('?locked=yes')
    expect(await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').count()).toBe(0)
    await page.getByLabel('Add a filter').selectOption('Email verified')
    await page.getByLabel('Locked', { exact: true }).selectOption('no')
    await page.getByText(`${((many / 4) * 3).toLocaleString('en')} users`).waitFor()
    await page.getByLabel('Add a filter').selectOption('Created before')
    expect(await page.getByLabel('Locked', { exact: true }).count()).toBe(0)
    await page.getByLabel('Created before', { exact: true }).pressSequentially('01022026', { delay: 60 })
    expect(await page.getByLabel('Created before', { exact: true }).inputValue()).toBe('2026-01-02')
    await expect.poll(() => page.locator('.count').textContent(), SHOWN).toMatch(/^1,(4|3)\d\d users$/)
    await page.reload()
    await page.getByText(/^1,(4|3)\d\d users$/).waitFor()
    await page.getByRole('button', { name: 'Remove the filter “Created before”' }).click()
    await waitForRow(page, /Person admin/)
    await page.getByLabel('Add a filter').selectOption('External id')
    await page.getByRole('textbox', { name: 'External id' }).fill('none')
    await page.keyboard.press('Enter')
    await page.getByText('No user matches.').waitFor()
    expect(new URL(page.url()).search).toBe('?externalId=none')
    await page.getByLabel('Add a filter').selectOption('Locked')
    await page.waitForURL(/\?externalId=none&locked=yes$/)
    await page.getByRole('textbox', { name: 'External id' }).fill('other')
    // The click takes the focus from the field, which sends its text.
    await page.getByRole('button', { name: 'Remove the filter “Locked”' }).evaluate((button) => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      if (button instanceof HTMLElement) button.click()
    })
    await page.waitForURL(/\?externalId=other$/)
    await page.getByRole('button', { name: 'Remove the filter “External id”' }).click()
    await waitForRow(page, /Person admin/)
    await page.getByLabel('Add a filter').selectOption('External id')
    await page.getByRole('textbox', { name: 'External id' }).fill('none')
    await page.getByRole('button', { name: 'Remove the filter “External id”' }).click()
    await expect.poll(() => page.locator('.chip.filter').count(), SHOWN).toBe(0)
    expect(new URL(page.url()).search).toBe('')
  })

  test('keeps the columns and the density that a person chooses', async ({ many, openConsole }) => {
    const { page } = await openConsole('admin', '/users')
    await waitForRow(page, /Person admin/)
    const before = await readVisible(page)
    await page.getByText('View', { exact: true }).click()
    await page.getByLabel('Phone', { exact: true }).check()
    await page.getByLabel('State', { exact: true }).uncheck()
    await page.getByLabel('Low rows').check()
    expect(await findViolations(page)).toEqual([])
    await page.reload()
    await waitForRow(page, /Person admin/)
    const headers = await page.getByRole('columnheader').allTextContents()
    expect(headers.map((text) => text.replace('↕', ''))).toEqual([
      '',
      'Name',
      'Address',
      'Last seen',
      'Created',
      'Phone',
    ])
    expect((await readVisible(page)).length).toBeGreaterThan(before.length)
    expect(many).toBe(USERS)
  })

  test('selects rows by mouse and key, and locks them with a result', async ({ newPerson, openConsole }) => {
    const people = []
    for (const name of ['Selected A', 'Selected B', 'Selected C']) people.push(await newPerson({ name }))
    const { page } = await openConsole('admin', '/users?search=selected')
    await waitForRow(page, /Selected C/)
    await page.getByRole('checkbox', { name: 'Selected A' }).click()
    await page.getByRole('checkbox', { name: 'Selected C' }).click({ modifiers: ['Shift'] })
    await page.getByText('3 selected', { exact: true }).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press(' ')
    await page.getByText('2 selected', { exact: true }).waitFor()
    expect(await findViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lock' }).click()
    await page.getByText('Done for 2 of 2 users.').waitFor()
    await page.getByRole('dialog').getByText('Close', { exact: true }).click()
    await expect.poll(() => page.locator('.rows tbody .badge.danger').count(), SHOWN).toBe(2)
    await page.getByRole('button', { name: 'Select all 3 that match' }).click()
    await page.getByText('All 3 that match').waitFor()
    await page.getByRole('button', { name: 'Unlock', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlock' }).click()
    const stopWorker = startBulkJobs()
    await page.getByText('Done for 3.').waitFor()
    await stopWorker()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => page.locator('.rows tbody .badge.danger').count(), SHOWN).toBe(0)
    await page.getByRole('checkbox', { name: 'Selected B' }).click()
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
    await page.getByRole('checkbox', { name: 'Selected A' }).click()
    await page.getByText('1 selected', { exact: true }).waitFor()
    await page.getByRole('columnheader', { name: 'Created' }).getByRole('button').click()
    await page.waitForURL(/&sort=-created$/)
    await page.getByText('1 selected', { exact: true }).waitFor()
    await page.getByRole('searchbox').fill('nobody at all')
    await page.getByText('No user matches.').waitFor()
    expect(await page.getByRole('button', { name: 'Clear' }).count()).toBe(0)
  })

  test('exports what is filtered, and what is selected', async ({ many, newPerson, openConsole }) => {
    const person = await newPerson({ name: '=HYPERLINK("https://evil.example", "Prize")' })
    const { page } = await openConsole('auditor', '/users?locked=no')
    const save = async (format: 'csv' | 'ndjson'): Promise<string[]> => {
      const download = page.waitForEvent('download')
      await page.getByLabel(/^Export/).selectOption(format)
      return readFileSync(await (await download).path(), 'utf8')
        .trimEnd()
        .split(/\r?\n/)
    }
    // A browser that asks the person first reads the file later.
    await page.evaluate(() => {
      URL.revokeObjectURL = (url) => {
        document.title = url
      }
    })
    await page.getByText('users').nth(1).waitFor()
    const lines = await save('ndjson')
    const ids = lines.map((line) => JSON.parse(line).id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThan((many / 4) * 3)
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ name: 'User 1', locked: false, roles: [] })
    await page.getByRole('row').filter({ hasText: 'HYPERLINK' }).getByRole('checkbox').click()
    expect(await page.getByRole('button', { name: 'Lock', exact: true }).count()).toBe(0)
    const [head, row, ...others] = await save('csv')
    expect([head?.split(',').slice(0, 2), others]).toEqual([['\uFEFFid', 'name'], []])
    expect(await page.title()).not.toContain('blob:')
    expect(row).toContain(`${person.id},"'=HYPERLINK(""https://evil.example"", ""Prize"")",`)
  })

  test('shows why rows are missing, and loads them on demand', async ({ many, openConsole }) => {
    const { page } = await openConsole('admin', '/users')
    await waitForRow(page, /Person admin/)
    await page.route('**/graphql', (route) => route.abort())
    await moveThumb(page, 0.5)
    await page.getByRole('alert').getByText('The server was not reached.').waitFor()
    await page.unrouteAll({ behavior: 'wait' })
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await waitForRow(page, /^User (29|30)\d\d$/)
    await page.goto(`${page.url()}?search=${'x'.repeat(2000)}`)
    await page.getByRole('alert').getByText('search:').waitFor()
    expect(await page.getByRole('alert').getByTitle('Copy').count()).toBe(1)
    expect(many).toBe(USERS)
  })

  test('marks users who are deleted, and does not announce them', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const { page } = await openConsole('admin', '/users?search=leaver')
    await page.getByText('No user matches.').waitFor(SHOWN)
    const leaver = await newPerson({ name: 'Leaver' })
    await page.getByRole('button', { name: '1 new: show' }).click(SHOWN)
    await waitForRow(page, /Leaver/)
    const brief = await newPerson({ name: 'Brief' })
    await page.getByRole('button', { name: '1 new: show' }).waitFor(SHOWN)
    for (const { id } of [leaver, brief]) await deleteUser(createPlatformCtx(acme), id)
    await page.getByText('Deleted', { exact: true }).waitFor(SHOWN)
    await expect.poll(() => page.getByRole('button', { name: /new: show/ }).count(), SHOWN).toBe(0)
    expect(await readVisible(page)).toEqual(['Leaver'])
  })

  test('marks sessions that end, and announces those that start', async ({
    acme,
    newPerson,
    openConsole,
    signIn,
    spa,
  }) => {
    const person = await newPerson({ name: 'Guest' })
    await signIn(person.email, { client: spa })
    const { page } = await openConsole('admin', '/sessions')
    await waitForRow(page, /Guest/)
    const guest = page.getByRole('row').filter({ hasText: 'Guest' })
    const rows = await guest.count()
    await revokeUserSessions(createPlatformCtx(acme), person.id)
    await expect.poll(() => guest.filter({ hasText: 'Ended' }).count(), SHOWN).toBe(rows)
    await signIn((await newPerson({ name: 'Newcomer' })).email, { client: spa })
    await page.getByRole('button', { name: /new: show/ }).click(SHOWN)
    await waitForRow(page, /Newcomer/)
    expect(await guest.count()).toBe(0)
    expect(page.url()).toBe(`${ORIGIN}/${acme}/console/sessions`)
  })
})
