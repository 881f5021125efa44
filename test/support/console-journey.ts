import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Ctx, createPlatformCtx } from '../../src/context/context.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { grantRole } from '../../src/users/roles.ts'
import { runAxe } from './axe.ts'
import { ORIGIN, PHONE } from './browser.ts'
import { startSession } from './browser-session.ts'
import { ensureBuilt } from './build.ts'
import { fillCode } from './fill-code.ts'
import { test as base, photograph } from './journey.ts'
import { collectPageErrors } from './page-errors.ts'
import { codeFor } from './protocol.ts'

/** A screen shows a change of others within a second; the rest is for a machine under load. */
export const SHOWN = { timeout: 20_000 }

/** `test` with the console. */
export const test = base
  /** Opens a path of the console in a new browser of a user with a role, who is signed in or signs in on the pages. */
  .extend(
    'openConsole',
    ({ acme, newPerson, open }) =>
      async (role: 'admin' | 'support' | 'auditor' | null, path = '', { onPages = false } = {}) => {
        const person = await newPerson({ name: `Person ${role ?? 'without a role'}` })
        if (role) await grantRole(createPlatformCtx(acme), person.email, role)
        const context = await open()
        if (!onPages)
          await context.addCookies([
            { ...(await startSession(acme, person.id)), url: ORIGIN, httpOnly: true },
          ])
        const page = await context.newPage()
        const errors = collectPageErrors(page)
        await page.goto(`${ORIGIN}/${acme}/console${path}`)
        if (onPages) {
          await page.getByLabel('Email address or phone number').fill(person.email)
          await page.keyboard.press('Enter')
          await page.waitForURL(/\/code$/)
          await fillCode(page, await codeFor(person.email))
        }
        await page.waitForURL((url) => url.pathname.startsWith(`/${acme}/console`))
        await page.getByRole('heading', { level: 1 }).waitFor()
        return { page, person, errors }
      },
  )
  /** The console of an administrator, from whose tokens nothing is in the storage of the browser. */
  .extend('console', ({ openConsole }) => openConsole('admin', '/users'))

/** For `test.beforeAll`: builds the console, and lets users sign in without an offer of a passkey. */
export async function prepareConsole({ ctx }: { ctx: Ctx }): Promise<void> {
  ensureBuilt()
  await updateSettings(ctx, { offerPasskey: false })
}

/**
 * Leads an open console to a path, without another load of its program. The screen between is one without data, whose
 * heading goes away.
 */
export async function openScreen(page: Page, path: string): Promise<void> {
  const lead = (to: string) =>
    page.evaluate((url) => history.pushState(null, '', url), page.url().replace(/(\/console).*/, `$1${to}`))
  const nothing = page.getByRole('heading', { level: 1, name: 'This page does not exist' })
  await lead('/nothing-is-here')
  await nothing.waitFor(SHOWN)
  await lead(path)
  await nothing.waitFor({ state: 'detached', ...SHOWN })
  await page.getByRole('heading', { level: 1 }).waitFor(SHOWN)
}

/** The first column of the list of a screen. */
export const readRows = (page: Page): Promise<string[]> => page.locator('.rows tbody th').allInnerTexts()

/**
 * Asserts that the screen is accessible and not wider than the window, on a desktop in light and on a phone in dark. The
 * window has its size again afterwards.
 */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  const former = page.viewportSize()
  // With its data.
  await page
    .locator('.bone')
    .first()
    .waitFor({ state: 'detached', ...SHOWN })
  for (const [colorScheme, size] of [
    ['light', { width: 1280, height: 800 }],
    ['dark', PHONE],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize(size)
    expect([name, colorScheme, (await runAxe(page)).violations]).toEqual([name, colorScheme, []])
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect([name, overflow]).toEqual([name, 0])
    await photograph(page, `console${name.replaceAll(/\W/g, '-')}-${colorScheme}`)
  }
  if (former) await page.setViewportSize(former)
}
