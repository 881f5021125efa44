import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { bulkUpdateUsers } from '../../src/bulk/bulk-jobs.ts'
import { registerTrustedDocuments } from '../../src/clients/documents/trusted-documents.ts'
import { startBulkJobs } from '../../src/jobs/bulk-jobs.ts'
import { getUserByEmail } from '../../src/users/users.ts'
import { noBrowser } from '../support/browser.ts'
import { assertAccessible, openScreen, prepareConsole, SHOWN, test } from '../support/console-journey.ts'
import { makeSpa, signInAs } from '../support/people.ts'

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

/** 700 lines, of which three are faulty. */
const FILE = [
  '\uFEFFE-Mail;Vorname;Abteilung',
  ...Array.from({ length: 700 }, (_, n) => `imported${n + 1}@example.com;"Person ${n + 1}";R&D`),
]
FILE[17] = 'no address;=1+2;R&D'
FILE[650] = FILE[3] as string
FILE[651] = `imported651@example.com;${'x'.repeat(1001)};`

describe.skipIf(noBrowser)('the console', () => {
  test('imports the valid lines of a spreadsheet, changes many users, lists the jobs, and revokes the access of a client', async ({
    app,
    acme,
    ctx,
    newPerson,
    openConsole,
    onTestFinished,
  }) => {
    onTestFinished(startBulkJobs())
    const game = await makeSpa(acme, { name: 'Game' })
    const { email } = await newPerson({ name: 'Player' })
    await signInAs(app, acme, game, email, { scope: 'openid session' })
    const { page, errors } = await openConsole('admin', '/users')
    await page.getByRole('link', { name: 'Import' }).click()
    await page
      .getByLabel('CSV file of a spreadsheet')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(FILE.join('\r\n')) })
    await page.getByLabel('Field of E-Mail').waitFor()
    expect(await page.getByLabel('Field of Vorname').inputValue()).toBe('givenName')
    expect(await page.getByLabel('Field of Abteilung').inputValue()).toBe('-')
    await page.getByRole('button', { name: 'Check the file' }).click()
    await page.getByText('697 to create, 0 to change, 0 as they are. 3 faulty lines.').waitFor()
    expect(await page.locator('.faulty tbody th').allInnerTexts()).toEqual(['18', '651', '652'])
    expect(await page.locator('.faulty').textContent()).toContain('an address or an id of line 4')
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the faulty lines' }).click()
    const saved = readFileSync(await (await download).path(), 'utf8').split('\r\n')
    expect(saved[0]).toBe('\uFEFFE-Mail;Vorname;Abteilung;Line;Reason')
    expect(saved[1]).toMatch(/^no address;'=1\+2;R&D;18;E-Mail must be/)
    await assertAccessible(page, '/users/import')
    await page.getByRole('button', { name: 'Import 697 lines' }).click()
    await page.getByText('697 created, 0 changed, 0 as they were. 3 faulty lines.').waitFor()
    expect((await getUserByEmail(ctx, 'imported700@example.com')).givenName).toBe('Person 700')
    await page.getByRole('link', { name: 'To the users' }).click()
    await page.getByRole('searchbox').fill('imported70@')
    await page.getByText('1 user', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: 'All that match' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('1 user')
    await page.keyboard.press('Enter')
    await page.getByText('Done for 1.').waitFor()
    await expect(getUserByEmail(ctx, 'imported70@example.com')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox').fill('imported71@')
    await page.getByText('imported71@example.com').first().waitFor()
    await page.getByText('1 user', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: 'All that match' }).click()
    await page.getByRole('button', { name: 'Add roles' }).click()
    expect(await dialog.getByRole('button', { name: 'Add roles' }).isDisabled()).toBe(true)
    await dialog.getByRole('checkbox', { name: 'auditor' }).check()
    await dialog.getByRole('button', { name: 'Add roles' }).click()
    await page.getByText('Done for 1.').waitFor()
    expect((await getUserByEmail(ctx, 'imported71@example.com')).roles).toEqual(['auditor'])
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Jobs' }).click()
    expect(await page.locator('.card h2').first().textContent()).toBe('Add roles auditor')
    await page.getByText('Done for 1.').nth(1).waitFor()
    await assertAccessible(page, '/users/jobs')
    const { id } = await getUserByEmail(ctx, 'imported72@example.com')
    await bulkUpdateUsers(ctx, { action: 'lock', userIds: [id] })
    await page.getByRole('heading', { name: 'Lock' }).waitFor()
    await openScreen(page, `/applications/${game.id}?tab=sessions`)
    await page.getByRole('link', { name: 'Player' }).waitFor()
    await page.getByRole('button', { name: 'Revoke all access' }).click()
    await dialog.getByRole('textbox').fill('Game')
    await dialog.getByRole('button', { name: 'Revoke all access' }).click()
    await page.getByText('Done for 1.').waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'Player' }).count(), SHOWN).toBe(0)
    await page.getByRole('link', { name: 'Documents' }).click()
    await page.getByText('None is registered.').waitFor()
    const text = 'query Names { users(first: 2) { nodes { name } } }'
    await registerTrustedDocuments(ctx, game.id, { documents: [{ documentId: 'names', text }] })
    await page.locator('main summary').click()
    await page.getByText(text).waitFor()
    await assertAccessible(page, '?tab=documents')
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('None is registered.').waitFor()
    expect(errors).toEqual([])
  }, 90_000)
})
