import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import type { Ctx } from '../../src/context/context.ts'
import type { LimitName } from '../../src/coordination/rate-limits.ts'
import type { SignInMethodName } from '../../src/model/sign-in-methods.ts'
import { storeOldPasswords } from '../../src/old-passwords/old-passwords.ts'
import { updateSettings } from '../../src/tenants/settings.ts'
import { createAssertion } from './authenticator.ts'
import { dbFor } from './database.ts'
import type { Person } from './fixtures.ts'
import { interactionAt, openPage, type Page } from './hosted-pages.ts'
import type { PageBrowser } from './page-browser.ts'
import { enrollPasskey, readPasskeyOptions } from './passkeys.ts'
import { test as base } from './provider-sign-in.ts'

/** What a browser shows after a proof. */
export type Visit = { status: number; html: string; path: string; location: string | null }

/** A proof that a user is about to present. */
export type Attempt = {
  /** Presents the proof at the page of the attempt, or at another one. */
  present: (by: PageBrowser, page?: Page) => Promise<Visit>
  /** Presents a wrong proof; of a method with typed proofs, a given one. */
  presentWrong: (by: PageBrowser, wrong?: string) => Promise<Visit>
  /** Lets the proof expire. */
  expire: () => Promise<void>
}

/** How tests use a sign-in method. */
export type MethodDriver = {
  /** The limit of a network for proofs that are not accepted. */
  limit: LimitName
  /** Whether the event of a wrong proof names the user. */
  namesUser: boolean
  /** The proof is of an identity elsewhere: its owner learns that the linked account does not work. */
  revealsLock: boolean
  /** Gives a user, or somebody unknown, what the method needs. Returns how that person begins at the first page. */
  equip: (person: Person | null) => Promise<(page: Page, by: PageBrowser) => Promise<Attempt>>
}

/** Submits a form; returns what the browser shows then. */
async function submitForm(by: PageBrowser, page: Page, form: Record<string, string>): Promise<Visit> {
  const { response, path, location } = await by.submit(page, form)
  return { status: response.status, html: await response.text(), path, location }
}

const PAST = new Date(0)

/** The password that imported people have, and its hash. */
export const OLD_PASSWORD = 'correct horse'
export const OLD_HASH = createHash('sha256').update(OLD_PASSWORD).digest('base64')

/** Lets the tenant accept the passwords of imported people for a day. */
export const startMigration = (ctx: Ctx): Promise<unknown> =>
  updateSettings(ctx, { migrationEndsAt: new Date(Date.now() + 86_400_000).toISOString() })

async function expireSignIn(tenant: string, { path }: Page): Promise<void> {
  await dbFor(tenant).interaction.update({ where: interactionAt(tenant, path), data: { expiresAt: PAST } })
}

/** `test` with a driver of every sign-in method. */
export const test = base.extend(
  'drivers',
  ({
    tenant,
    ctx,
    email,
    inbox,
    provider,
    link,
    choose,
    signInThere,
    comeBack,
  }): Record<SignInMethodName, MethodDriver> => ({
    passcode: {
      limit: 'authenticatePasscode',
      namesUser: true,
      revealsLock: false,
      equip: async (person) => async (first, by) => {
        const address = person?.email ?? email(`nobody-${randomBytes(4).toString('hex')}`)
        const { path, html, status } = await submitForm(by, first, { step: 'email', address })
        const page = { path, html, response: new Response(null, { status }) }
        const code = (await inbox.list(address)).length > 0 ? await inbox.codeFor(address) : '111111'
        const enter = (text: string) => (browser: PageBrowser, at: Page) =>
          submitForm(browser, at, { step: 'code', code: text })
        return {
          present: (browser, at = page) => enter(code)(browser, at),
          presentWrong: (browser) => enter(code === '000000' ? '000001' : '000000')(browser, page),
          expire: async () => {
            await dbFor(tenant).passcode.updateMany({
              where: { tenantId: tenant, address },
              data: { expiresAt: PAST },
            })
          },
        }
      },
    },
    passkey: {
      limit: 'rejectPasskey',
      namesUser: true,
      revealsLock: false,
      equip: async (person) => {
        const passkey = person
          ? await enrollPasskey(ctx, person.id)
          : {
              id: randomBytes(16).toString('base64url'),
              privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
            }
        return async (first) => {
          const options = readPasskeyOptions(first.html)
          const assertion = createAssertion(passkey, options)
          return {
            present: (by, at = first) => submitForm(by, at, { step: 'passkey', assertion }),
            presentWrong: (by) =>
              submitForm(by, first, {
                step: 'passkey',
                assertion: createAssertion(passkey, options, { origin: 'https://evil.example' }),
              }),
            expire: () => expireSignIn(tenant, first),
          }
        }
      },
    },
    password: {
      limit: 'enterPassword',
      namesUser: true,
      revealsLock: false,
      equip: async (person) => {
        await startMigration(ctx)
        const hash = { kind: 'digest', digest: 'sha256', before: '', after: '', hash: OLD_HASH } as const
        if (person) await ctx.db.transaction((tx) => storeOldPasswords(tx, [{ userId: person.id, hash }]))
        return async (first, by) => {
          const address = person?.email ?? email(`nobody-${randomBytes(4).toString('hex')}`)
          const code = await submitForm(by, first, { step: 'email', address })
          const path = code.path.replace(/\/code$/, '/password')
          const page = await openPage(by, path)
          const enter = (password: string) => (browser: PageBrowser, at: Page) =>
            submitForm(browser, at, { step: 'password', password })
          return {
            present: (browser, at = page) => enter(OLD_PASSWORD)(browser, at),
            presentWrong: (browser, wrong = 'wrong') => enter(wrong)(browser, page),
            expire: async () => {
              await dbFor(tenant).oldPassword.deleteMany({ where: { tenantId: tenant } })
            },
          }
        }
      },
    },
    provider: {
      limit: 'rejectIdentity',
      namesUser: false,
      revealsLock: true,
      equip: async (person) => {
        const subject = randomBytes(8).toString('hex')
        if (person) await link(person.id, provider, subject)
        return async (first, by) => {
          const callback = await signInThere(await choose(first, provider.id, by), subject)
          const open = async (browser: PageBrowser, url: URL): Promise<Visit> => {
            const { response, ...visit } = await comeBack(url, browser)
            return { status: response.status, ...visit }
          }
          const wrong = new URL(callback)
          wrong.searchParams.set('code', 'wrong')
          return {
            present: (browser, { path } = first) => {
              const url = new URL(callback)
              url.pathname = url.pathname.replace(`/${tenant}/`, `/${path.split('/')[1]}/`)
              return open(browser, url)
            },
            presentWrong: (browser) => open(browser, wrong),
            expire: () => expireSignIn(tenant, first),
          }
        }
      },
    },
  }),
)
