import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argon2id, bcrypt } from 'hash-wasm'
import { describe, expect, vi } from 'vitest'
import { createPlatformCtx } from '../../src/context/context.ts'
import { createAppRole } from '../../src/permissions/app-roles.ts'
import { createAssertion, createCredential } from '../support/authenticator.ts'
import { noBrowser, ORIGIN } from '../support/browser.ts'
import { vestibule } from '../support/cli.ts'
import { dbFor } from '../support/database.ts'
import { openPage } from '../support/hosted-pages.ts'
import { test as base, photograph, readHeading } from '../support/journey.ts'
import { PageBrowser } from '../support/page-browser.ts'
import { withoutOffer } from '../support/passkey-journey.ts'
import { readCreationOptions, readPasskeyOptions } from '../support/passkeys.ts'
import { answerIn, makeClient } from '../support/protocol.ts'
import { startRelyingParty } from '../support/relying-party.ts'
import { hasServices } from '../support/services.ts'
import { startMigration } from '../support/sign-in-methods.ts'
import { openWithDevice } from '../support/virtual-authenticator.ts'

// Hundreds of requests.
vi.setConfig({ testTimeout: 120_000 })

/** Of each system. */
const PEOPLE = 20
/** People who sign in at once. */
const AT_ONCE = 6
const RP_ID = new URL(ORIGIN).hostname

type Passkey = Parameters<typeof createAssertion>[0] & { userHandle: string | null }
type Person = { email: string; password: string; passkey?: Passkey }

/** A credential of type `password` as Keycloak exports it, of each of its algorithms in turn. */
async function createKeycloakPassword(n: number, password: string) {
  const salt = randomBytes(16)
  const digest = n % 3 === 0 ? 'sha256' : 'sha512'
  const isArgon = n % 3 === 2
  const value = isArgon
    ? await argon2id({
        password,
        salt,
        parallelism: 1,
        iterations: 1,
        memorySize: 64,
        hashLength: 32,
        outputType: 'binary',
      })
    : pbkdf2Sync(password, salt, 3, 64, digest)
  const [secretData, credentialData] = [
    {
      value: Buffer.from(value).toString('base64'),
      salt: salt.toString('base64'),
      additionalParameters: {},
    },
    {
      hashIterations: isArgon ? 1 : 3,
      algorithm: isArgon ? 'argon2' : `pbkdf2-${digest}`,
      additionalParameters: isArgon
        ? { hashLength: ['32'], memory: ['64'], type: ['id'], version: ['1.3'], parallelism: ['1'] }
        : {},
    },
  ]
  return {
    id: `c${n}`,
    type: 'password',
    createdDate: 1,
    secretData: JSON.stringify(secretData),
    credentialData: JSON.stringify(credentialData),
  }
}

/** A credential of type `webauthn-passwordless` as Keycloak exports it, and its authenticator. */
function createKeycloakPasskey(userId: string) {
  const { publicKey, privateKey, response } = createCredential({ challenge: 'c', rp: { id: RP_ID } })
  const data = {
    aaguid: '00000000-0000-0000-0000-000000000000',
    credentialId: Buffer.from(response.id, 'base64url').toString('base64'),
    counter: 0,
    credentialPublicKey: publicKey,
    attestationStatementFormat: 'none',
    transports: ['internal'],
  }
  const userHandle = Buffer.from(userId).toString('base64url')
  return {
    credential: {
      id: 'w',
      type: 'webauthn-passwordless',
      secretData: '{}',
      credentialData: JSON.stringify(data),
    },
    passkey: { id: response.id, privateKey, userHandle },
  }
}

/** The export of a realm, with its organization and its people. Every tenth has a passkey already. */
async function createRealm(people: readonly Person[]): Promise<object> {
  const users = people.map(async (person, n) => {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    const there = n % 10 === 0 ? createKeycloakPasskey(id) : null
    if (there) person.passkey = there.passkey
    return {
      id,
      username: `person${n}`,
      email: person.email,
      emailVerified: true,
      enabled: true,
      credentials: [await createKeycloakPassword(n, person.password), ...(there ? [there.credential] : [])],
      realmRoles: ['default-roles-acme', 'offline_access', 'reader'],
      groups: [`/Staff/Desk ${n % 3}`],
    }
  })
  const members = people.map((_, n) => ({ username: `person${n}`, membershipType: 'UNMANAGED' }))
  return {
    realm: 'acme',
    organizations: [{ id: 'o1', name: 'Acme', alias: 'acme', members }],
    users: await Promise.all(users),
  }
}

const toLines = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** The two files of Auth0: its users, and the hashes that its support sends. */
const createAuth0Files = async (people: readonly Person[]) => ({
  users: toLines(
    people.map(({ email }, n) => ({
      user_id: `auth0|u${n}`,
      email,
      email_verified: true,
      identities: [{ provider: 'auth0', user_id: `u${n}`, connection: 'Users', isSocial: false }],
      app_metadata: { authorization: { roles: ['reader'], groups: ['Staff'] } },
    })),
  ),
  hashes: toLines(
    await Promise.all(
      people.map(async ({ email, password }, n) => ({
        _id: { $oid: `u${n}` },
        email,
        email_verified: true,
        passwordHash: await bcrypt({ password, salt: randomBytes(16), costFactor: 4, outputType: 'encoded' }),
        connection: 'Users',
      })),
    ),
  ),
})

const createPeople = (system: string): Person[] =>
  Array.from({ length: PEOPLE }, (_, n) => ({
    email: `${system}${n}@moved.example`,
    password: `${system} password ${n}`,
  }))

/** Calls `work` for each entry, a few at a time. */
async function forEach<Entry>(
  entries: readonly Entry[],
  work: (entry: Entry) => Promise<void>,
): Promise<void> {
  const rest = [...entries]
  const drain = async () => {
    for (let entry = rest.shift(); entry !== undefined; entry = rest.shift()) await work(entry)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, drain))
}

const test = base
  .extend('party', { scope: 'file' }, async ({ app, acme }, { onCleanup }) => {
    const party = await startRelyingParty('openid email', app)
    onCleanup(() => party.close())
    const client = await makeClient(acme, { name: 'Acme Mail', callbacks: [party.callback] })
    await party.connect(`${ORIGIN}/${acme}`, client.id, client.secret)
    return party
  })
  .extend('writeExport', async ({ acme: _ }, { onCleanup }) => {
    const directory = await mkdtemp(join(tmpdir(), 'vestibule-move-'))
    onCleanup(() => rm(directory, { recursive: true }))
    return async (name: string, text: string) => {
      const path = join(directory, name)
      await writeFile(path, text)
      return path
    }
  })
  .extend('visit', ({ app, oidc }) => {
    const enterPassword = async (browser: PageBrowser, { email, password }: Person) => {
      const first = await openPage(browser, oidc.authorizePath({}))
      const code = await browser.submit(first, { step: 'email', address: email, platform: '1' })
      const page = await openPage(browser, code.path.replace(/\/code$/, '/password'))
      const { response, path, location } = await browser.submit(page, { step: 'password', password })
      return { html: await response.text(), path, location, status: response.status }
    }
    return {
      /** Signs in with the old password, and creates the passkey that is offered. */
      move: async (person: Person) => {
        const browser = new PageBrowser(app.origin)
        const offer = await enterPassword(browser, person)
        const { response, privateKey } = createCredential(readCreationOptions(offer.html))
        const form = { step: 'create-passkey', registration: JSON.stringify(response) }
        const { location } = await browser.submit(offer, form)
        expect(answerIn(location).code, person.email).toMatch(/./)
        person.passkey = { id: response.id, privateKey, userHandle: null }
      },
      presentPasskey: async (person: Person) => {
        if (!person.passkey) throw new Error(`${person.email} has no passkey`)
        const browser = new PageBrowser(app.origin)
        const first = await openPage(browser, oidc.authorizePath({}))
        const { userHandle } = person.passkey
        const assertion = createAssertion(person.passkey, readPasskeyOptions(first.html), {
          counter: 1,
          userHandle,
        })
        const { location } = await browser.submit(first, { step: 'passkey', assertion })
        expect(answerIn(location).code, person.email).toMatch(/./)
      },
      tryPassword: async (person: Person) => {
        const { status, html, location } = await enterPassword(new PageBrowser(app.origin), person)
        expect([status, location, html.includes('This password did not work')]).toEqual([200, null, true])
      },
    }
  })

describe.runIf(hasServices && !noBrowser)('the people of a Keycloak and an Auth0 export', () => {
  test('sign in with their old password once, and with a passkey ever after', async ({
    acme,
    open,
    party,
    writeExport,
    visit,
  }) => {
    const ctx = createPlatformCtx(acme)
    await startMigration(ctx)
    await createAppRole(ctx, { name: 'reader', assignableTo: ['user'] })
    const [fromKeycloak, fromAuth0] = [createPeople('keycloak'), createPeople('auth')]
    const realm = await writeExport('realm.json', JSON.stringify(await createRealm(fromKeycloak)))
    const { users, hashes } = await createAuth0Files(fromAuth0)
    const imported: [from: string, path: string, ...more: string[]][] = [
      ['keycloak', realm, '--organizations', realm, '--rp-id', RP_ID],
      ['auth0', await writeExport('users.ndjson', users)],
      ['auth0', await writeExport('hashes.ndjson', hashes)],
    ]
    for (const [from, path, ...more] of imported)
      expect(await vestibule(['import', path, '--from', from, '--tenant', acme, ...more])).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Imported 20 users: .* 0 lines rejected\.\n$/),
      })
    const where = { tenantId: acme }
    const { membership, userAppRole, group, oldPassword, credential } = dbFor(acme)
    expect([
      await membership.count({ where }),
      await userAppRole.count({ where }),
      await group.count({ where }),
      await credential.count({ where }),
    ]).toEqual([20, 40, 4, 2])

    // Two of them in a browser.
    const byHand = [fromKeycloak[1], fromAuth0[0]] as Person[]
    const context = await open()
    for (const person of byHand) {
      const { page, errors } = await openWithDevice(context)
      await withoutOffer(page)
      const enterPassword = async () => {
        await page.goto(party.url)
        await page.getByLabel('Email address').fill(person.email)
        await page.getByRole('button', { name: 'Continue', exact: true }).click()
        await page.getByRole('link', { name: 'Use your old password' }).click()
        await page.getByLabel('Old password').fill(person.password)
      }
      await enterPassword()
      expect(await readHeading(page)).toBe('Enter your old password')
      await photograph(page, 'desktop-old-password')
      await page.setViewportSize({ width: 320, height: 800 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await page.getByRole('button', { name: 'Create a passkey' }).click()
      await page.waitForURL(`${party.callback}*`)
      await context.clearCookies()
      await enterPassword()
      await page.getByRole('button', { name: 'Continue', exact: true }).click()
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').textContent()).toMatch(/^This password did not work/)
      await page.goto(party.url)
      await page.getByRole('button', { name: /passkey/ }).click()
      await page.waitForURL(`${party.callback}*`)
      expect(party.outcome()).toMatchObject({ claims: { email: person.email } })
      await context.clearCookies()
      await page.close()
      expect(errors).toEqual([])
    }

    const others = [...fromKeycloak, ...fromAuth0].filter((person) => !byHand.includes(person))
    await forEach(
      others.filter(({ passkey }) => !passkey),
      visit.move,
    )
    await forEach(others, visit.presentPasskey)
    // Nobody has a hash: neither those who signed in with it, nor those who had a passkey.
    expect(await oldPassword.count({ where })).toBe(2 * PEOPLE)
    expect(await oldPassword.count({ where: { ...where, hash: { not: null } } })).toBe(0)
    await forEach(
      others.filter((_, n) => n % 8 === 0),
      visit.tryPassword,
    )
  })
})
