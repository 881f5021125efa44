import { describe, expect } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { lockUser, updateUser } from '../../src/users/users.ts'
import { runAxe } from '../support/axe.ts'
import { noBrowser, ORIGIN, PHONE } from '../support/browser.ts'
import { prepareConsole, SHOWN, test } from '../support/console-journey.ts'
import { photograph } from '../support/journey.ts'

test.beforeAll(({ ctx }) => prepareConsole({ ctx }))

describe.skipIf(noBrowser)('the screen of a user', () => {
  test('lets two administrators settle a conflict field by field', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const grace = await newPerson({ name: 'Grace' })
    const { page, errors } = await openConsole('admin', `/users/${grace.id}?tab=profile`)
    await page.getByLabel('Display name').fill('Grace Hopper')
    await page.getByLabel('Nickname').fill('Amazing Grace')
    await updateUser(createPlatformCtx(acme), grace.id, {
      name: 'Rear Admiral Hopper',
      website: 'https://grace.example',
    })
    const conflict = page.getByRole('alert', { name: 'Conflict' })
    await conflict.getByLabel(/Theirs: Rear Admiral Hopper/).waitFor(SHOWN)
    expect(await page.getByText('Somebody else has changed Website meanwhile.').count()).toBe(1)
    expect(await page.getByRole('button', { name: 'Save again' }).isDisabled()).toBe(true)
    await conflict.getByLabel(/Mine: Grace Hopper/).check()
    await page.getByRole('button', { name: 'Save again' }).click()
    await page.getByText('The profile is saved.').waitFor()
    await page.getByRole('heading', { name: 'Grace Hopper' }).waitFor()
    expect(await page.getByLabel('Nickname').inputValue()).toBe('Amazing Grace')
    expect(await page.getByLabel('Website').inputValue()).toBe('https://grace.example')
    expect(errors).toEqual([])
  })

  test('has no finding of axe on any tab, in both schemes and on a phone', async ({
    acme,
    newPerson,
    openConsole,
  }) => {
    const { id } = await newPerson({ name: 'Grace' })
    await lockUser(createPlatformCtx(acme), id)
    const { page, errors } = await openConsole('admin')
    for (const path of [
      `/users/${id}`,
      `/users/${id}?tab=profile`,
      `/users/${id}?tab=sign-in`,
      `/users/${id}?tab=events`,
    ]) {
      await page.goto(`${ORIGIN}/${acme}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      for (const [colorScheme, size] of [
        ['light', { width: 1280, height: 800 }],
        ['dark', PHONE],
      ] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.setViewportSize(size)
        expect([path, colorScheme, (await runAxe(page)).violations]).toEqual([path, colorScheme, []])
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        expect([path, overflow]).toEqual([path, 0])
        await photograph(page, `console${path.replaceAll(/[/?=]/g, '-').replace(id, 'user')}-${colorScheme}`)
      }
    }
    expect(errors).toEqual([])
  })
})
